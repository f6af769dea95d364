// MakeInput of scenario.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/sim/random.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {
namespace {

/// A weight that a double cannot add to others without rounding. `kind`, modulo 3:
///   0  2^55 or -2^55: beside it others lose their last bits, and it is gone where two of them cancel each other
///   1  up to 2^55, so that sums have any number of last bits to lose
///   2  so small that it decides alone whether half a unit is rounded up
float LargeWeight(std::int64_t number, std::int64_t kind) {
  const auto odd = static_cast<float>(2 * number + 1);
  if (kind % 3 == 0) return std::copysign(0x1p55F, odd);
  return odd * (kind % 3 == 1 ? 0x1p42F : 0x1p-40F);
}

/// The number of a record's key, below `scenario.keys` or little above.
std::uint64_t DrawKey(const Scenario& scenario, Random& random, std::int64_t number, std::int64_t records) {
  const std::int64_t passed = scenario.keys * number / std::max<std::int64_t>(records, 1);
  if (scenario.keys_pass == 1) {
    constexpr std::int64_t kShareAtOnce = 20;
    const std::int64_t at_once = std::max<std::int64_t>(scenario.keys / kShareAtOnce, 1);
    return static_cast<std::uint64_t>(passed) + random.Below(static_cast<std::uint64_t>(at_once));
  }
  const std::int64_t keys = scenario.keys_grow == 1 ? std::max<std::int64_t>(passed, 1) : scenario.keys;
  return random.Below(static_cast<std::uint64_t>(keys));
}

Event MakeEvent(const Scenario& scenario, Random& random, std::int64_t number, std::int64_t records) {
  Event event;
  event.key = static_cast<std::int64_t>(random.Below(100)) < scenario.hot_percent
                  ? 0
                  : DrawKey(scenario, random, number, records) * static_cast<std::uint64_t>(scenario.key_stride);
  event.time_ms = number * scenario.span_ms / std::max<std::int64_t>(records, 1);
  event.time_ms -= scenario.disorder_ms == 0 ? 0 : random.Between(0, scenario.disorder_ms);
  event.amount = random.Between(-1'000, 1'000);
  const std::int64_t weight = random.Between(-4'096, 4'096);
  const auto chance = static_cast<std::int64_t>(random.Below(100));
  event.weight = chance < scenario.large_percent ? LargeWeight(weight, chance) : static_cast<float>(weight) / 256;
  event.kind = random.Below(3);
  return event;
}

enum class Silence : std::uint8_t {
  kNone,
  kBeforeFarTimes,
  kBeforeNextTimes,
  kPauses,  ///< shorter than the idle timeout, between some batches that have all records
};

Flow MakeFlow(const Scenario& scenario, Random& random, std::int64_t records, Silence silence, std::int64_t skips) {
  const bool is_silent = (silence == Silence::kBeforeFarTimes || silence == Silence::kBeforeNextTimes) && records >= 4;
  const bool pauses = silence == Silence::kPauses;
  constexpr std::int64_t kBatchesWithPauses = 16;
  const std::int64_t batch_records = pauses ? std::max<std::int64_t>(records / kBatchesWithPauses, 1) : scenario.batch;
  Flow flow;
  std::int64_t watermark_ms = kBeginningMs;
  const std::int64_t speaks_again = records / 2;
  for (std::int64_t number = 0; number < records;) {
    Batch batch;
    if (number >= records / 2) {
      // Each comes sooner than the idle timeout, all together take longer.
      const Batch skip{.events = {}, .watermark_ms = watermark_ms, .silence_ns = scenario.idle_timeout_ns() / 2};
      flow.insert(flow.end(), static_cast<std::size_t>(std::exchange(skips, 0)), skip);
    }
    const bool is_behind = is_silent && number >= speaks_again;
    if (pauses) batch.silence_ns = scenario.idle_timeout_ns() / 4;
    if (is_behind && number < speaks_again + scenario.batch) batch.silence_ns = 4 * scenario.idle_timeout_ns();
    for (std::int64_t i = 0; i < batch_records && number < records; ++i, ++number) {
      Event event = MakeEvent(scenario, random, number, records);
      if (is_behind && silence == Silence::kBeforeFarTimes)
        event.time_ms += 3 * scenario.span_ms + scenario.disorder_ms + scenario.bound_ms;
      watermark_ms = std::max(watermark_ms, event.time_ms - scenario.bound_ms);
      batch.events.push_back(event);
      if (is_silent && number + 1 == speaks_again) {
        ++number;
        break;
      }
    }
    const bool is_told_behind = scenario.heartbeats == 1 && flow.size() % 3 == 1;
    batch.watermark_ms = is_told_behind ? flow.back().watermark_ms : watermark_ms;
    flow.push_back(std::move(batch));
    if (is_told_behind) flow.push_back({.events = {}, .watermark_ms = watermark_ms, .silence_ns = 0});
  }
  return flow;
}

}  // namespace

Input MakeInput(const Scenario& scenario, std::int64_t sources, bool may_be_silent) {
  const bool source_is_silent = scenario.silent_source == 1 && may_be_silent;
  Input input;
  input.lateness_ms = scenario.lateness_ms;
  input.graph_seed = scenario.seed;
  input.nodes = scenario.nodes;
  input.executors = static_cast<std::size_t>(scenario.executor_count());
  for (std::int64_t source = 0; source < sources; ++source) {
    std::vector<Flow>& flows = input.sources.emplace_back();
    const std::int64_t records = source == 0 ? scenario.records : (scenario.records + 2) / 3;
    for (std::int64_t reader = 0; reader < scenario.roles().reader_count(); ++reader) {
      Random random(scenario.seed, Purpose::kInput, static_cast<std::uint64_t>(source * 1'000 + reader));
      Silence silence = Silence::kNone;
      if (source == 0 && source_is_silent) {
        silence = Silence::kBeforeNextTimes;
      } else if (source_is_silent && scenario.others_last == 1) {
        silence = Silence::kPauses;
      } else if (source == 0 && reader == 1 && scenario.silent == 1) {
        // One alone: two would follow each other, and which records are late would depend on who speaks first.
        silence = Silence::kBeforeFarTimes;
      }
      const bool skips = source == 0 && reader == 0;
      flows.push_back(MakeFlow(scenario, random, records, silence, skips ? scenario.skips : 0));
    }
  }
  return input;
}

}  // namespace glaive::sim
