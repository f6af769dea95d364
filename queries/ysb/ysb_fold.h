// YsbFold: how the hand-written loop of `ysb` counts some hundred events (queries/loops/window_loop.h).
//
// One record at a time, no prefetching. Views are picked out without a branch first: one record in three is a view, at
// random, and a branch would be mispredicted as often.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "queries/loops/key_counts.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

struct YsbFold {
  using Record = YsbEvent;
  using Table = AccountTable<CountOf>;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const {
    std::array<std::uint64_t, Table::kRecordsAtOnce> keys;
    CountKeys(std::span(keys).first(PickKeys(events, keys.data())), table);
  }

  /// Writes the keys of the views among the events; returns their number.
  std::size_t PickKeys(std::span<const Record> events, std::uint64_t* keys) const {
    std::size_t picked = 0;
    for (const Record& event : events) {
      keys[picked] = event.ad_id;
      picked += event.event_type == EventType::kView ? 1 : 0;
    }
    if (campaigns == nullptr) {
      return picked;
    }
    std::size_t joined = 0;
    for (std::size_t i = 0; i < picked; ++i) {
      const std::uint64_t campaign = campaigns->Find(keys[i]);
      keys[joined] = campaign;
      joined += campaign != 0 ? 1 : 0;
    }
    return joined;
  }

  std::shared_ptr<const CampaignTable> campaigns;  // null: the slash profile, without a join
};

}  // namespace glaive::queries::ysb
