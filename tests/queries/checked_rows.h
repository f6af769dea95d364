// What tests of the checking of rows say of them.
#pragma once

#include <cstdint>
#include <vector>

#include "queries/common/result_row.h"

namespace glaive::queries {

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
