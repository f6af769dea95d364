#include "engine/cluster/main.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "queries/common/generated_program.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/swa/event_folds.h"
#include "queries/swa/generator.h"
#include "queries/swa/session_loop.h"
#include "queries/swa/swa_query.h"

namespace glaive::queries::swa {
namespace {

class SwaProgram final : public GeneratedProgram<AirEvent, AirEventTime> {
 public:
  std::string name() const override { return "swa"; }
  std::string summary() const override {
    return "AIR's simple windowed aggregation: how many events of 136 bytes there are in each window of 10 s.";
  }
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override { input.keys = 1'000; }
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override {
    flags.AddChoice({.name = "windows", .group = group, .help = "their kind"}, options_.windows,
                    {{"tumbling", WindowKind::kTumbling},
                     {"sliding", WindowKind::kSliding},
                     {"session", WindowKind::kSession},
                     {"unbounded", WindowKind::kUnbounded}});
    flags.AddChoice({.name = "group-by", .group = group, .help = "count all events together, or those of each ad"},
                    options_.group_by, {{"all", GroupBy::kAll}, {"ad", GroupBy::kAd}});
    AddWindowFlag(flags,
                  {.name = "window",
                   .group = group,
                   .help = "length of a window; the gap of sessions; the time between two results of unbounded ones"},
                  options_.window);
    AddWindowFlag(flags, {.name = "slide", .group = group, .help = "time between two sliding windows' starts"},
                  options_.slide);
    flags.AddString({.name = "late-output",
                     .group = group,
                     .help = "CSV file of late events, a part an executor",
                     .file = engine::FileUse::kWriteParts},
                    options_.late_output, "FILE");
    flags.AddCheck([this, &flags]() -> absl::Status {
      if (options_.windows != WindowKind::kSliding) {
        return flags.WasGiven("slide") ? absl::InvalidArgumentError("--slide goes with --windows=sliding alone")
                                       : absl::OkStatus();
      }
      return CheckSliding(options_.window, options_.slide);
    });
  }
  Shape shape() const override {
    const std::int64_t window_ms = absl::ToInt64Milliseconds(options_.window);
    std::int64_t overlapping = 1;
    Shape shape{.window_ms = window_ms, .keyed = options_.group_by == GroupBy::kAd};
    switch (options_.windows) {
      case WindowKind::kSliding:
        shape.slide_ms = absl::ToInt64Milliseconds(options_.slide);
        overlapping = window_ms / shape.slide_ms + 1;
        shape.rows_a_record = static_cast<double>(overlapping);
        break;
      case WindowKind::kSession:
        shape.kind = CheckedWindows::Kind::kSession;
        break;
      case WindowKind::kUnbounded:
        shape.kind = CheckedWindows::Kind::kUnbounded;
        break;
      case WindowKind::kTumbling:
        break;
    }
    return shape;
  }
  std::unique_ptr<Generator<AirEvent>> MakeGenerator(const InputOptions& input) const override {
    return std::make_unique<AirEventGenerator>(input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Events& events, const ResultSinks& sinks) const override {
    SwaOptions options = options_;
    options.allowed_lateness = allowed_lateness();
    return BuildSwa(options, events, sinks);
  }
  absl::Status CheckLoop() const override {
    if (!options_.late_output.empty()) {
      return absl::InvalidArgumentError("--engine=loop has no late events: leave out --late-output");
    }
    return options_.windows == WindowKind::kTumbling || options_.windows == WindowKind::kSession
               ? absl::OkStatus()
               : absl::InvalidArgumentError("--engine=loop goes with --windows=tumbling and --windows=session");
  }
  std::unique_ptr<engine::Query> BuildLoop(const Events& events, std::uint64_t keys,
                                           const ResultSinks& sinks) const override {
    const bool by_ad = options_.group_by == GroupBy::kAd;
    if (options_.windows == WindowKind::kSession) {
      return by_ad ? Sessions<std::uint64_t>(events, keys, sinks) : Sessions<engine::AllRecords>(events, keys, sinks);
    }
    return by_ad ? Tumbling<EventsOfAdFold>(events, keys, sinks) : Tumbling<AllEventsFold>(events, keys, sinks);
  }
  Verdict Recompute(const Recomputation<AirEvent>& run) const override {
    return run.As<CountAccount<AirEvent>>(
        [this](const AirEvent& event) { return std::optional(options_.group_by == GroupBy::kAd ? event.ad_id : 0); });
  }
  std::string column_names() const override { return "ad_id"; }
  void AppendColumns(std::string& line, const AirEvent& event) const override { absl::StrAppend(&line, event.ad_id); }

 private:
  template <typename Fold>
  std::unique_ptr<engine::Query> Tumbling(const Events& events, std::uint64_t keys, const ResultSinks& sinks) const {
    using Loop = WindowLoop<Fold>;
    const WindowLoopOptions options{.window_ms = shape().window_ms, .keys = keys};
    return LoopQueryOver(events, Loop::MemoryBytes(keys), [=] { return Loop::Create({}, options); }, sinks);
  }
  /// `Key` is that of SessionLoop.
  template <typename Key>
  std::unique_ptr<engine::Query> Sessions(const Events& events, std::uint64_t keys, const ResultSinks& sinks) const {
    using Loop = SessionLoop<Key>;
    const SessionLoopOptions options{.gap_ms = shape().window_ms, .ads = keys};
    return LoopQueryOver(events, Loop::MemoryBytes(options), [=] { return Loop::Create(options); }, sinks);
  }

  SwaOptions options_;
};

}  // namespace
}  // namespace glaive::queries::swa

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::swa::SwaProgram>(argc, argv); }
