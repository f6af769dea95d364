// Batch: some records on their way along an edge of a query's graph.
//
// The records belong to the producer, and are valid until Consumer::Take returns (engine/graph/operator.h). The
// consumer computes their event times by a function that is compiled into it (engine/api/origin.h). A batch has about
// 64 KiB from a source of blocks, and 32 KiB at most from an operator or a pulled source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace glaive::engine {

/// See the head of this file.
template <typename R>
struct Batch {
  std::span<const R> records;            // in the order of their arrival
  std::int64_t event_time_shift_ms = 0;  // to be added to the records' event times
  /// Whether no record's event time is below that of the one before it. A stage then reads the times of the first and
  /// the last of some records alone.
  bool in_order = false;
  std::span<const R> upcoming = {};  // likely to be in the next batch: to be prefetched, not to be read
  /// When the batch was read or made, or by its source's schedule was to be read: where latencies count from.
  std::int64_t read_ns = 0;
};

/// The most records of a batch that an operator or a source makes: about 32 KiB, which the first-level cache holds
/// until the consumers have read them.
template <typename R>
inline constexpr std::size_t kMostMadeAtOnce = std::clamp<std::size_t>((std::size_t{32} << 10) / sizeof(R), 1, 4096);

}  // namespace glaive::engine
