// GeneratedSource: a stream of generated records that each executor reads from its memory, as the flags of the input
// say; the last --idle-flows of the run fall silent on the way.
//
//   From(GeneratedSource<Bid, BidTime>(generator, flags, MakeBlock(flags, window_ms)))...
//
// ReadRecords says how many records an executor reads of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/source/block_source.h"
#include "queries/common/generator.h"
#include "queries/common/input_flags.h"

namespace glaive::queries {

/// `EventTime` is a stateless callable from `const R&` to milliseconds.
template <typename R, typename EventTime>
engine::SourceSpec<R, EventTime> GeneratedSource(std::shared_ptr<const Generator<R>> generator, const InputFlags& flags,
                                                 const engine::BlockSourceOptions& block) {
  const auto open = [flags, block, generator = std::move(generator)](const engine::SourceContext& context) {
    engine::BlockSourceOptions options = block;
    if (FallsSilent(flags, Value(context.executor), context.executor_count)) {
      options.silent_after_records = RecordsBeforeSilence(flags);
      options.silent_ns = absl::ToInt64Nanoseconds(flags.idle_for);
    }
    const auto generate = [&](std::uint64_t first, std::span<R> records) {
      generator->Fill(Value(context.executor), first, records);
    };
    return engine::BlockSource<R, EventTime>::Create(options, *context.clock, generate, EventTime{}, context.watch);
  };
  return {.open = open, .event_time_ms = {}, .memory_bytes = block.block_records * sizeof(R)};
}

/// The number of records that each executor that reads gets from an input without --seconds.
inline std::vector<std::uint64_t> ReadRecords(const InputFlags& flags, std::uint32_t reader_count) {
  std::vector<std::uint64_t> counts(reader_count, flags.records);
  for (std::uint32_t reader = 0; reader < reader_count; ++reader) {
    if (FallsSilent(flags, reader, reader_count)) {
      counts[reader] = RecordsBeforeSilence(flags);
    }
  }
  return counts;
}

}  // namespace glaive::queries
