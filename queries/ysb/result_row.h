// ResultRow and Totals: what the query emits, and a summary of many rows that does not depend on their order.
//
// Totals of several leaders add up to the totals of the run. A missing row, an extra row, or a row with another window,
// key or count changes the checksum; so does one row missing here and another one emitted twice there.
//
//   Totals totals;
//   totals.Add({.window_start_ms = 0, .key = 17, .count = 3});
#pragma once

#include <compare>
#include <cstdint>

#include "queries/ysb/hash.h"

namespace glaive::queries::ysb {

/// The count of one key in one window.
struct ResultRow {
  std::int64_t window_start_ms = 0;
  std::uint64_t key = 0;
  std::uint64_t count = 0;

  friend auto operator<=>(const ResultRow&, const ResultRow&) = default;
};

/// See the head of this file.
struct Totals {
  std::uint64_t rows = 0;
  std::uint64_t count_sum = 0;
  std::uint64_t checksum = 0;  // sum over the rows of a 64-bit hash of all three fields, modulo 2^64

  /// About 2 ns.
  void Add(const ResultRow& row) {
    rows += 1;
    count_sum += row.count;
    checksum += Mix(Mix(Mix(static_cast<std::uint64_t>(row.window_start_ms)) + row.key) + row.count);
  }
  void Merge(const Totals& other) {
    rows += other.rows;
    count_sum += other.count_sum;
    checksum += other.checksum;
  }

  friend bool operator==(const Totals&, const Totals&) = default;
};

}  // namespace glaive::queries::ysb
