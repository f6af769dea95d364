#include "bench/scaling/aggregations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "bench/baseline/count_window_loop.h"
#include "bench/baseline/partition_loop.h"
#include "bench/scaling/meeting.h"
#include "bench/scaling/record_blocks.h"
#include "engine/api/stream.h"
#include "queries/cm/cm_query.h"
#include "queries/cm/cpu_mean_fold.h"
#include "queries/cm/generator.h"
#include "queries/cm/sliding_loop.h"
#include "queries/loops/loop_totals.h"
#include "queries/loops/window_loop.h"
#include "queries/nb7/bid_fold.h"
#include "queries/nb7/generator.h"
#include "queries/nb7/nb7_query.h"
#include "queries/ro/generator.h"
#include "queries/ro/item_fold.h"
#include "queries/ro/ro_query.h"
#include "queries/swa/event_folds.h"
#include "queries/swa/generator.h"
#include "queries/swa/session_loop.h"
#include "queries/swa/swa_query.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_fold.h"
#include "queries/ysb/ysb_query.h"
#include "queries/ysb_star/click_ratio_fold.h"
#include "queries/ysb_star/ysb_star_query.h"

namespace glaive::bench {
namespace {

using queries::ResultSinks;

/// Of a query without windows: what the input's span is counted in.
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kCm1SlideMs = 1'000;
constexpr std::int64_t kSwaWindowMs = 10'000;
/// A multiple of all windows here.
constexpr std::int64_t kAlignMs = 600'000;

/// What `make_loop` makes, over a block.
template <typename Blocks, typename MakeLoop>
absl::StatusOr<Loop> LoopOver(const std::shared_ptr<const Blocks>& blocks, std::uint32_t number,
                              const MakeLoop& make_loop, const InputSize& size, std::int64_t span_ms) {
  auto made = make_loop(std::min<std::uint64_t>(size.keys, blocks->of(number).size()));
  if (!made.ok()) {
    return made.status();
  }
  const auto loop = std::make_shared<typename decltype(made)::value_type>(*std::move(made));
  return [=, repetitions = size.repetitions] {
    return queries::LoopTotals(*loop, blocks->of(number), {.repetitions = repetitions, .span_ms = span_ms});
  };
}

/// Makes the two threads of a PartitionLoop (`loops.Partitioned(keys)`) over the first block: thread 0 partitions,
/// thread 1 folds. The threads of a run share a loop.
template <typename Blocks, typename Loops>
std::function<absl::StatusOr<Loop>(std::uint32_t)> PartitionLoopOver(const std::shared_ptr<const Blocks>& blocks,
                                                                     const Loops& loops, const InputSize& size,
                                                                     std::int64_t span_ms) {
  const auto make = [=]() {
    auto made = loops.Partitioned(std::min<std::uint64_t>(size.keys, blocks->of(0).size()));
    using Shared = std::shared_ptr<typename decltype(made)::value_type>;
    return made.ok() ? absl::StatusOr<Shared>(std::make_shared<typename decltype(made)::value_type>(*std::move(made)))
                     : absl::StatusOr<Shared>(made.status());
  };
  using Shared = std::invoke_result_t<decltype(make)>;
  const auto meeting = std::make_shared<Meeting<Shared>>();
  return [=, repetitions = size.repetitions](std::uint32_t thread) -> absl::StatusOr<Loop> {
    const Shared loop = meeting->Join(make);
    if (!loop.ok()) {
      return loop.status();
    }
    return [=, loop = *loop] {
      if (thread == 0) {
        loop->Partition(blocks->of(0), repetitions, span_ms);
        return queries::Totals();
      }
      return loop->Aggregate();
    };
  };
}

/// The workload of `build(events, sinks)` over what `make_generator(options)` generates. `make_loop(keys)` makes a loop
/// for at most so many keys, or is kNoLoop.
template <typename R, typename EventTime, typename MakeGenerator, typename Build, typename MakeLoop>
absl::StatusOr<Workload> MakeAggregation(const InputSize& size, std::int64_t window_ms,
                                         const MakeGenerator& make_generator, const Build& build,
                                         const MakeLoop& make_loop) {
  using Blocks = RecordBlocks<R, EventTime>;
  const std::uint64_t records = size.RecordsOf(sizeof(R));
  const std::int64_t span_ms = static_cast<std::int64_t>(size.windows) * window_ms;
  const auto input = InputOf(size, records, span_ms, kAlignMs);
  if (!input.ok()) {
    return input.status();
  }
  const auto generated = Blocks::Generate(make_generator(*input), records, size.executors);
  if (!generated.ok()) {
    return generated.status();
  }
  const std::shared_ptr<const Blocks>& blocks = *generated;
  Workload workload;
  workload.records = records * size.repetitions;
  workload.build_query = [=, repetitions = size.repetitions](const ResultSinks& sinks) {
    return build(blocks->Source(repetitions, span_ms), sinks);
  };
  if constexpr (!std::is_same_v<MakeLoop, std::nullptr_t>) {
    workload.make_loop = [=](std::uint32_t executor) { return LoopOver(blocks, executor, make_loop, size, span_ms); };
    workload.make_sequential_loop = [=]() -> absl::StatusOr<Loop> {
      const auto merged = blocks->Merge();
      return merged.ok() ? LoopOver(*merged, 0, make_loop, size, span_ms) : merged.status();
    };
  }
  if constexpr (requires { make_loop.Partitioned(std::uint64_t{1}); }) {
    workload.make_partition_loop = PartitionLoopOver(blocks, make_loop, size, span_ms);
  }
  return workload;
}

/// Makes loops of the fold: a WindowLoop, and a PartitionLoop if the fold has a PartitionedFold.
template <typename Fold>
struct WindowLoopOf {
  std::int64_t window_ms;
  Fold fold = {};

  absl::StatusOr<queries::WindowLoop<Fold>> operator()(std::uint64_t keys) const {
    return queries::WindowLoop<Fold>::Create(fold, {.window_ms = window_ms, .keys = keys});
  }
  absl::StatusOr<PartitionLoop<Fold>> Partitioned(std::uint64_t keys) const
    requires requires { typename PartitionedFold<Fold>::Item; }
  {
    return PartitionLoop<Fold>::Create(fold, {.window_ms = window_ms, .keys = keys});
  }
};

template <typename Build, typename MakeLoop>
absl::StatusOr<Workload> MakeOverYsbEvents(const InputSize& size, queries::ysb::Profile profile, std::int64_t window_ms,
                                           const Build& build, const MakeLoop& make_loop) {
  return MakeAggregation<queries::ysb::YsbEvent, queries::ysb::YsbEventTime>(
      size, window_ms,
      [profile](const queries::InputOptions& input) { return queries::ysb::YsbGenerator(profile, input); }, build,
      make_loop);
}

absl::StatusOr<Workload> MakeYsbOf(const InputSize& size, queries::ysb::Profile profile, std::int64_t window_ms,
                                   const queries::ysb::YsbFold& fold) {
  const auto build = [=](const auto& events, const ResultSinks& sinks) {
    return BuildYsb({.profile = profile, .window = absl::Milliseconds(window_ms)}, events, sinks);
  };
  return MakeOverYsbEvents(size, profile, window_ms, build, WindowLoopOf<queries::ysb::YsbFold>{window_ms, fold});
}

template <typename MakeLoop>
absl::StatusOr<Workload> MakeCmOf(const InputSize& size, const queries::cm::CmOptions& options,
                                  const MakeLoop& make_loop) {
  return MakeAggregation<queries::cm::TaskEvent, queries::cm::TaskEventTime>(
      size, absl::ToInt64Milliseconds(options.window),
      [](const queries::InputOptions& input) { return queries::cm::TaskEventGenerator(input); },
      [=](const auto& events, const ResultSinks& sinks) { return BuildCm(options, events, sinks); }, make_loop);
}

template <typename MakeLoop>
absl::StatusOr<Workload> MakeSwaOf(const InputSize& size, queries::swa::WindowKind windows, const MakeLoop& make_loop) {
  return MakeAggregation<queries::swa::AirEvent, queries::swa::AirEventTime>(
      size, kSwaWindowMs, [](const queries::InputOptions& input) { return queries::swa::AirEventGenerator(input); },
      [=](const auto& events, const ResultSinks& sinks) {
        return BuildSwa({.windows = windows, .window = absl::Milliseconds(kSwaWindowMs)}, events, sinks);
      },
      make_loop);
}

}  // namespace

absl::StatusOr<Workload> MakeYsb(const InputSize& size) {
  return MakeYsbOf(size, queries::ysb::Profile::kSlash, queries::ysb::kSlashWindowMs, queries::ysb::YsbFold{});
}

absl::StatusOr<Workload> MakeYsbYahoo(const InputSize& size) {
  return MakeYsbOf(size, queries::ysb::Profile::kYahoo, queries::ysb::kYahooWindowMs,
                   queries::ysb::YsbFold{std::make_shared<const queries::ysb::CampaignTable>()});
}

absl::StatusOr<Workload> MakeYsbStar(const InputSize& size) {
  constexpr std::int64_t kWindowMs = queries::ysb::kYahooWindowMs;
  const auto build = [](const auto& events, const ResultSinks& sinks) {
    return queries::ysb_star::BuildYsbStar(events, absl::Milliseconds(kWindowMs), absl::ZeroDuration(), sinks);
  };
  return MakeOverYsbEvents(size, queries::ysb::Profile::kYahoo, kWindowMs, build,
                           WindowLoopOf<queries::ysb_star::ClickRatioFold>{
                               kWindowMs, {std::make_shared<const queries::ysb::CampaignTable>()}});
}

absl::StatusOr<Workload> MakeNb7(const InputSize& size) {
  return MakeAggregation<queries::nexmark::Bid, queries::nexmark::BidTime>(
      size, kMinuteMs, [](const queries::InputOptions& input) { return queries::nb7::BidGenerator(input); },
      [](const auto& bids, const ResultSinks& sinks) {
        return queries::nb7::BuildNb7(bids, absl::Milliseconds(kMinuteMs), absl::ZeroDuration(), sinks);
      },
      WindowLoopOf<queries::nb7::BidFold>{kMinuteMs});
}

absl::StatusOr<Workload> MakeCm(const InputSize& size) {
  const queries::cm::CmOptions options;
  return MakeCmOf(size, options, WindowLoopOf<queries::cm::CpuMeanFold>{absl::ToInt64Milliseconds(options.window)});
}

absl::StatusOr<Workload> MakeCm1(const InputSize& size) {
  return MakeCmOf(size,
                  {.profile = queries::cm::Profile::kCm1,
                   .window = absl::Milliseconds(kMinuteMs),
                   .slide = absl::Milliseconds(kCm1SlideMs)},
                  [](std::uint64_t /*keys*/) -> absl::StatusOr<queries::cm::SlidingLoop> {
                    return queries::cm::SlidingLoop({.window_ms = kMinuteMs, .slide_ms = kCm1SlideMs});
                  });
}

absl::StatusOr<Workload> MakeSwa(const InputSize& size) {
  return MakeSwaOf(size, queries::swa::WindowKind::kTumbling, WindowLoopOf<queries::swa::AllEventsFold>{kSwaWindowMs});
}

absl::StatusOr<Workload> MakeSwaSession(const InputSize& size) {
  return MakeSwaOf(size, queries::swa::WindowKind::kSession, [](std::uint64_t /*keys*/) {
    return queries::swa::SessionLoop<engine::AllRecords>::Create({.gap_ms = kSwaWindowMs});
  });
}

absl::StatusOr<Workload> MakeRo(const InputSize& size) {
  return MakeAggregation<queries::ro::Item, queries::ro::ItemTime>(
      size, kMinuteMs, [](const queries::InputOptions& input) { return queries::ro::ItemGenerator(input); },
      [](const auto& items, const ResultSinks& sinks) { return queries::ro::BuildRo(items, sinks); },
      WindowLoopOf<queries::ro::ItemFold>{/*window_ms=*/0});
}

absl::StatusOr<Workload> MakeCountWindows(const InputSize& size) {
  constexpr std::uint64_t kRecords = 10;
  constexpr std::uint64_t kSlide = 5;
  const auto build = [](const auto& bids, const ResultSinks& sinks) {
    return engine::From(bids)
        .KeyBy(&queries::nexmark::Bid::auction)
        .Window(engine::CountWindow{.size = kRecords, .slide = kSlide})
        .Aggregate(engine::Count{})
        .Map([](const engine::NumberedResult<std::uint64_t, std::uint64_t>& row) {
          return engine::WindowResult<std::uint64_t, std::uint64_t>{
              .window_start_ms = static_cast<std::int64_t>(row.window),
              .window_end_ms = static_cast<std::int64_t>(row.records),
              .key = row.key,
              .value = row.value};
        })
        .To(sinks);
  };
  return MakeAggregation<queries::nexmark::Bid, queries::nexmark::BidTime>(
      size, kMinuteMs, [](const queries::InputOptions& input) { return queries::nb7::BidGenerator(input); }, build,
      [](std::uint64_t keys) { return CountWindowLoop::Create({.size = kRecords, .slide = kSlide, .keys = keys}); });
}

}  // namespace glaive::bench
