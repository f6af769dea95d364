// ItemFold: how the hand-written loop of `ro` counts some hundred items (queries/loops/window_loop.h).
#pragma once

#include <cstdint>
#include <span>

#include "queries/loops/key_counts.h"
#include "queries/ro/item.h"

namespace glaive::queries::ro {

struct ItemFold {
  using Record = Item;
  using Table = AccountTable<CountOf>;

  static std::int64_t TimeMs(const Record& item) { return item.event_time_ms; }

  static void FoldChunk(std::span<const Record> items, Table& table) {
    CountBy(items, [](const Record& item) { return item.key; }, table);
  }
};

}  // namespace glaive::queries::ro
