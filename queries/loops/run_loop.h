// RunLoop: has a hand-written loop read its input to the end, batch by batch.
//
// A loop over one input has
//
//   Record, Row                         a WindowResult or another row that the query's sinks take
//   Take(records, shift_ms, emit)       takes records in the order of event time, to which shift_ms is added; calls
//                                       emit(row) for rows that are complete
//   End(emit)                           the stream ends: emits the other rows
//
// A loop over two inputs has Left, Right, Row and
//
//   Take(lefts, rights, emit)           takes records of both (loop_input.h) until one needs more, or both have ended
//
//   RunLoop(loop, [&] { return NextBatch(); }, [&](const Row& row) { ... });
#pragma once

#include "queries/loops/loop_input.h"

namespace glaive::queries {

/// `next()` returns the next LoopInput, and is not called again behind the last one.
template <typename Loop, typename Next, typename Emit>
void RunLoop(Loop& loop, const Next& next, const Emit& emit) {
  for (bool ended = false; !ended;) {
    const LoopInput<typename Loop::Record> input = next();
    loop.Take(input.records, input.shift_ms, emit);
    ended = input.ended;
  }
  loop.End(emit);
}

/// The same of a loop over two inputs.
template <typename Loop, typename NextLeft, typename NextRight, typename Emit>
void RunLoop(Loop& loop, const NextLeft& next_left, const NextRight& next_right, const Emit& emit) {
  LoopInput<typename Loop::Left> left;
  LoopInput<typename Loop::Right> right;
  while (!left.is_done() || !right.is_done()) {
    if (left.needs_more()) {
      left = next_left();
    }
    if (right.needs_more()) {
      right = next_right();
    }
    loop.Take(left, right, emit);
  }
}

}  // namespace glaive::queries
