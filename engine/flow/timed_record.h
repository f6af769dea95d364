// TimedRecord: a record with its event time beside it, so that the record itself need not have one.
#pragma once

#include <cstdint>
#include <tuple>

#include "state/record/record.h"

namespace glaive::engine {

template <typename R>
struct TimedRecord {
  using Members = std::tuple<std::int64_t, R>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("record", self.record);
  }

  std::int64_t event_time_ms = 0;
  R record;
};

/// What a pipeline reads of it.
struct TimeOfTimedRecord {
  template <typename R>
  std::int64_t operator()(const TimedRecord<R>& timed) const {
    return timed.event_time_ms;
  }
};
struct RecordOfTimedRecord {
  template <typename R>
  const R& operator()(const TimedRecord<R>& timed) const {
    return timed.record;
  }
};

}  // namespace glaive::engine
