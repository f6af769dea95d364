// LoopInput: what a hand-written loop over two inputs has to read of one of them.
//
//   LoopInput<Bid> bids{.records = batch};
//   loop.Take(bids, sellers, emit);   // removes from both the records that it has taken
#pragma once

#include <cstdint>
#include <span>

namespace glaive::queries {

template <typename R>
struct LoopInput {
  std::span<const R> records;  // not taken yet
  std::int64_t shift_ms = 0;   // added to their event times
  bool ended = false;          // no records follow them

  /// Whether the loop cannot go on before it has more records.
  bool needs_more() const { return records.empty() && !ended; }
  /// Whether the loop has taken the last record of the stream.
  bool is_done() const { return records.empty() && ended; }
};

}  // namespace glaive::queries
