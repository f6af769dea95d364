// What tests of the checking of rows say of them.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "queries/common/result_row.h"

namespace glaive::queries {

/// How GoogleTest prints them: "window 0 to 10 key 7 value 3".
inline void PrintTo(const ResultRow& row, std::ostream* out) {
  *out << "window " << row.window_start_ms << " to " << row.window_end_ms << " key " << row.key << " value "
       << row.value;
}
/// "12 rows, values that add up to 132, checksum 77".
inline void PrintTo(const Totals& totals, std::ostream* out) {
  *out << totals.rows << " rows, values that add up to " << totals.value_sum << ", checksum " << totals.checksum;
}

inline Totals TotalsOf(const std::vector<ResultRow>& rows) {
  Totals totals;
  for (const ResultRow& row : rows) {
    totals.Add(row);
  }
  return totals;
}

/// A RowCheck::Leads of the node that leads every key.
inline bool LeadsAll(std::uint64_t /*key*/) { return true; }

}  // namespace glaive::queries
