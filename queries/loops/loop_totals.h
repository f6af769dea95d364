// LoopTotals: has a hand-written loop read blocks of records, and adds up the rows that it emits.
//
// A block is read `repetitions` times, as the engine's sources read it (engine/source/block_source.h): each repetition
// moves event time on by `span_ms`. The loop gets it in batches of `batch_records`.
//
//   Totals emitted = LoopTotals(*loop, bids, {.repetitions = 4, .span_ms = 600'000});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "queries/common/result_row.h"
#include "queries/common/result_sinks.h"
#include "queries/loops/loop_input.h"
#include "queries/loops/run_loop.h"

namespace glaive::queries {

struct LoopRepetition {
  std::uint64_t repetitions = 1;
  std::int64_t span_ms = 0;
  std::size_t batch_records = std::numeric_limits<std::size_t>::max();
};

/// The batches of a block.
template <typename R>
class LoopBatches {
 public:
  LoopBatches(std::span<const R> block, const LoopRepetition& repetition) : block_(block), repetition_(repetition) {}

  LoopInput<R> Next() {
    if (rest_.empty() && begun_ < repetition_.repetitions) {
      rest_ = block_;
      ++begun_;
    }
    const std::span<const R> batch = rest_.first(std::min(rest_.size(), repetition_.batch_records));
    rest_ = rest_.subspan(batch.size());
    return {.records = batch,
            .shift_ms = (static_cast<std::int64_t>(begun_) - 1) * repetition_.span_ms,
            .ended = rest_.empty() && begun_ >= repetition_.repetitions};
  }

 private:
  std::span<const R> block_;
  LoopRepetition repetition_;
  std::span<const R> rest_ = {};  // of the repetition
  std::uint64_t begun_ = 0;       // repetitions
};

template <typename Loop>
Totals LoopTotals(Loop& loop, std::span<const typename Loop::Record> block, const LoopRepetition& repetition) {
  Totals emitted;
  LoopBatches<typename Loop::Record> batches(block, repetition);
  RunLoop(loop, [&] { return batches.Next(); }, [&](const typename Loop::Row& row) { emitted.Add(ToResultRow(row)); });
  return emitted;
}

/// Of a loop over two inputs, both of which are repeated.
template <typename Loop>
Totals LoopTotals(Loop& loop, std::span<const typename Loop::Left> lefts, std::span<const typename Loop::Right> rights,
                  const LoopRepetition& repetition) {
  Totals emitted;
  LoopBatches<typename Loop::Left> left_batches(lefts, repetition);
  LoopBatches<typename Loop::Right> right_batches(rights, repetition);
  RunLoop(
      loop, [&] { return left_batches.Next(); }, [&] { return right_batches.Next(); },
      [&](const typename Loop::Row& row) { emitted.Add(ToResultRow(row)); });
  return emitted;
}

}  // namespace glaive::queries
