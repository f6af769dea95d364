// How the hand-written loops of `swa` over tumbling windows count some hundred events (queries/loops/window_loop.h).
#pragma once

#include <cstdint>
#include <span>

#include "queries/loops/key_counts.h"
#include "queries/loops/one_count.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

/// All events together: of an event nothing is read but its time.
struct AllEventsFold {
  using Record = AirEvent;
  using Table = OneCount;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const { table.Add(events.size()); }
};

/// The events of each ad.
struct EventsOfAdFold {
  using Record = AirEvent;
  using Table = AccountTable<CountOf>;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const {
    CountBy(events, [](const Record& event) { return event.ad_id; }, table);
  }
};

}  // namespace glaive::queries::swa
