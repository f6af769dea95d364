// CheckedBlock: the input of an oracle that a hand-written loop reads as one block, so many times.
//
//   Oracle<Bid> oracle("nb7", CheckedBlock<Bid>(generator, BidTime{}, bids.size(), repetition), windows);
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/common/oracle.h"
#include "queries/loops/loop_totals.h"

namespace glaive::queries {

/// `generator` outlives the input.
template <typename R, typename EventTime>
CheckedInput<R> CheckedBlock(const Generator<R>& generator, EventTime event_time_ms, std::uint64_t records,
                             const LoopRepetition& repetition) {
  return {.generator = &generator,
          .event_time_ms = event_time_ms,
          .record_counts = {records * repetition.repetitions},
          .block_records = records,
          .block_span_ms = repetition.span_ms};
}

}  // namespace glaive::queries
