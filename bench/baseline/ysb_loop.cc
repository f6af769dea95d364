#include "bench/baseline/ysb_loop.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::bench {
namespace {

using queries::ysb::CampaignTable;
using queries::ysb::EventType;
using queries::ysb::Profile;
using queries::ysb::YsbEvent;

constexpr std::size_t kChunkRecords = CountTable::kKeysAtOnce;

using Keys = std::array<std::uint64_t, kChunkRecords>;

/// Copies the views' ad ids to `keys` and returns how many there are. One record in three is a view, at random: a
/// branch would be mispredicted as often.
std::size_t PickViews(std::span<const YsbEvent> events, Keys& keys) {
  std::size_t picked = 0;
  for (const YsbEvent& event : events) {
    keys[picked] = event.ad_id;
    picked += event.event_type == EventType::kView ? 1 : 0;
  }
  return picked;
}

/// Replaces ad ids by campaigns, drops those of no campaign, and returns how many are left.
std::size_t Join(const CampaignTable& campaigns, std::size_t ads, Keys& keys) {
  std::size_t joined = 0;
  for (std::size_t i = 0; i < ads; ++i) {
    const std::uint64_t campaign = campaigns.Find(keys[i]);
    keys[joined] = campaign;
    joined += campaign != 0 ? 1 : 0;
  }
  return joined;
}

}  // namespace

absl::StatusOr<YsbLoop> YsbLoop::Create(const BaselineOptions& options) {
  if (options.window_ms <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("a window of ", options.window_ms, " ms; it must be above 0"));
  }
  absl::StatusOr<CountTable> counts = CountTable::Create(options.keys);
  if (!counts.ok()) {
    return counts.status();
  }
  return YsbLoop(options, *std::move(counts));
}

BaselineResult YsbLoop::Run(std::span<const YsbEvent> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
  GLAIVE_CHECK(block_span_ms % options_.window_ms == 0, "a block spans ", block_span_ms, " ms, no multiple of ",
               options_.window_ms);
  return options_.profile == Profile::kYahoo ? RunProfile<Profile::kYahoo>(block, repetitions, block_span_ms)
                                             : RunProfile<Profile::kSlash>(block, repetitions, block_span_ms);
}

template <Profile kProfile>
BaselineResult YsbLoop::RunProfile(std::span<const YsbEvent> block, std::uint64_t repetitions,
                                   std::int64_t block_span_ms) {
  const std::int64_t window_ms = options_.window_ms;
  BaselineResult result;
  if (block.empty()) {
    return result;
  }
  Keys keys;
  std::int64_t window_start_ms = 0;
  // In the block's own time, which starts over with each repetition. The first record opens its window.
  std::int64_t window_end_ms = INT64_MIN;
  const auto fire = [&] {
    counts_.Drain([&](std::uint64_t key, std::uint64_t count) {
      result.emitted.Add({.window_start_ms = window_start_ms, .key = key, .count = count});
    });
  };
  for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
    const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
    for (std::span<const YsbEvent> rest = block; !rest.empty();) {
      if (rest.front().event_time_ms >= window_end_ms) {
        fire();
        const std::int64_t time_ms = rest.front().event_time_ms;
        window_end_ms = time_ms - time_ms % window_ms + window_ms;
        window_start_ms = window_end_ms - window_ms + moved_on_ms;
      }
      std::span<const YsbEvent> chunk = rest.first(std::min(rest.size(), kChunkRecords));
      if (chunk.back().event_time_ms >= window_end_ms) {
        const auto in_window = [&](const YsbEvent& event) { return event.event_time_ms < window_end_ms; };
        const auto end = std::partition_point(chunk.begin(), chunk.end(), in_window);
        chunk = chunk.first(static_cast<std::size_t>(end - chunk.begin()));
      }
      rest = rest.subspan(chunk.size());
      std::size_t counted = PickViews(chunk, keys);
      if constexpr (kProfile == Profile::kYahoo) {
        counted = Join(campaigns_, counted, keys);
      }
      counts_.Add(std::span(keys).first(counted));
      result.views += counted;
    }
    window_end_ms -= block_span_ms;
  }
  result.records = block.size() * repetitions;
  fire();
  return result;
}

}  // namespace glaive::bench
