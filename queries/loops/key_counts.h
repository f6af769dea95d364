// CountBy: counts records by their keys, as the hand-written loops of several queries do.
//
//   CountBy(items, [](const Item& item) { return item.key; }, table);   // an AccountTable<CountOf>
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "queries/loops/account_table.h"

namespace glaive::queries {

struct CountOf {
  std::uint64_t value() const { return count; }

  std::uint64_t count;
};

/// Counts a record for each key.
template <typename R, typename KeyOf>
void CountBy(std::span<const R> records, const KeyOf& key_of, AccountTable<CountOf>& table) {
  table.Fold(records, key_of, [](CountOf& account, const R&) { ++account.count; });
}
inline void CountKeys(std::span<const std::uint64_t> keys, AccountTable<CountOf>& table) {
  CountBy(keys, std::identity{}, table);
}

}  // namespace glaive::queries
