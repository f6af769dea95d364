#include "queries/swa/swa_query.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/api/stream.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"

namespace glaive::queries::swa {
namespace {

/// What is left of an event.
struct Ad {
  static constexpr std::string_view kCsvHeader = "ad_id";
  friend void AppendCsv(std::string& line, const Ad& ad) { absl::StrAppend(&line, ad.id); }

  std::uint64_t id;
};

/// A CSV file or, without a path, nowhere.
struct LateSink {
  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    return path.empty() ? engine::Discard{}.Factory<Row>() : engine::Csv{path}.Factory<Row>();
  }

  std::string path;
};

}  // namespace

std::unique_ptr<engine::Query> BuildSwa(const SwaOptions& options,
                                        const engine::SourceSpec<AirEvent, AirEventTime>& events,
                                        const ResultSinks& sinks) {
  const auto count = [&](auto windows) {
    auto ads = engine::From(events).Map([](const AirEvent& event) { return Ad{event.ad_id}; });
    const auto count_windowed = [&](auto windowed) {
      return std::move(windowed)
          .AllowedLateness(options.allowed_lateness)
          .LateTo(LateSink{options.late_output})
          .Aggregate(engine::Count{})
          .To(sinks);
    };
    return options.group_by == GroupBy::kAd ? count_windowed(std::move(ads).KeyBy(&Ad::id).Window(windows))
                                            : count_windowed(std::move(ads).Window(windows));
  };
  switch (options.windows) {
    case WindowKind::kSliding:
      return count(engine::Sliding{options.window, options.slide});
    case WindowKind::kSession:
      return count(engine::Session{options.window});
    case WindowKind::kUnbounded:
      return count(engine::Unbounded{options.window});
    case WindowKind::kTumbling:
      break;
  }
  return count(engine::Tumbling{options.window});
}

}  // namespace glaive::queries::swa
