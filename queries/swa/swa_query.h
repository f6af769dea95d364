// SWA, AIR's simple windowed aggregation: how many events there are in each window, of all ads or of each.
//
//   SELECT COUNT(*) FROM events GROUP BY TUMBLE(event_time, 10 s)
//
// The benchmark's windows are tumbling ones of 10 s over all events. The other kinds are here to be tried and proven.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

enum class WindowKind : std::uint8_t { kTumbling, kSliding, kSession, kUnbounded };
enum class GroupBy : std::uint8_t { kAll, kAd };

struct SwaOptions {
  WindowKind windows = WindowKind::kTumbling;
  GroupBy group_by = GroupBy::kAll;
  absl::Duration window = absl::Seconds(10);  // the gap of sessions, the time between unbounded results
  absl::Duration slide = absl::Seconds(1);    // of sliding windows
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// What is left of an event.
struct Ad {
  static constexpr std::string_view kCsvHeader = "ad_id";
  friend void AppendCsv(std::string& line, const Ad& ad) { absl::StrAppend(&line, ad.id); }

  std::uint64_t id;
};

/// Results go to `sink`, what is late to `late`.
template <typename Events, typename Sink, typename LateSink>
std::unique_ptr<engine::Query> BuildSwa(const SwaOptions& options, const Events& events, const Sink& sink,
                                        const LateSink& late) {
  const auto count = [&](auto windows) {
    auto ads = engine::From(events).Map([](const AirEvent& event) { return Ad{event.ad_id}; });
    const auto count_windowed = [&](auto windowed) {
      return std::move(windowed)
          .AllowedLateness(options.allowed_lateness)
          .LateTo(late)
          .Aggregate(engine::Count{})
          .To(sink);
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
