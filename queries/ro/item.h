// Item: the record of RO, the read-only workload of Slash's evaluation (paper section 8.1.2): a key and a time, in 16
// bytes. Plain data, little-endian, without gaps.
#pragma once

#include <cstdint>
#include <type_traits>

namespace glaive::queries::ro {

struct Item {
  std::uint64_t key;
  std::int64_t event_time_ms;  // since 1970
};

static_assert(sizeof(Item) == 16 && std::is_trivially_copyable_v<Item>);

struct ItemTime {
  std::int64_t operator()(const Item& item) const { return item.event_time_ms; }
};

}  // namespace glaive::queries::ro
