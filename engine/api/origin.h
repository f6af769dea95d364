// Origins: the vertex that a stream comes from: a source, a stage, or an operator that gives each record its event
// time. An origin also has the function of a record's event time, which is compiled into the consumer of the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "engine/flow/timed_record.h"
#include "engine/graph/vertex.h"
#include "engine/source/source.h"

namespace glaive::engine {

/// A source's records. `EventTime` is a callable from `const R&` to milliseconds, or NoEventTime.
template <typename R, typename EventTime>
struct SourceOrigin {
  using Record = R;
  static constexpr bool kFromSource = true;
  static constexpr bool kHasTime = !std::is_same_v<EventTime, NoEventTime>;

  std::shared_ptr<const ProducerVertex<R>> vertex;  // the same of all streams that were split from one
  EventTime event_time_ms;
  TableBytes tables;  // that were joined since
};

/// The event time of a window's result: its window's last millisecond.
template <typename Row>
struct ResultTime {
  std::int64_t operator()(const Row& row) const { return row.window_end_ms - 1; }
};

/// A stage's results. `kHasTimeT` says whether they are of windows that end.
template <typename Row, bool kHasTimeT>
struct StageOrigin {
  using Record = Row;
  static constexpr bool kFromSource = false;
  static constexpr bool kHasTime = kHasTimeT;

  std::shared_ptr<const ProducerVertex<Row>> vertex;
  ResultTime<Row> event_time_ms;
  TableBytes tables;  // that were joined since
};

/// Records that an operator has made of others, each with its event time: behind a FlatMap, WithEventTime,
/// Union, or an exchange.
template <typename Out, bool kFromSourceT, bool kHasTimeT>
struct TimedOrigin {
  using Record = TimedRecord<Out>;
  static constexpr bool kFromSource = kFromSourceT;
  static constexpr bool kHasTime = kHasTimeT;

  std::shared_ptr<const ProducerVertex<Record>> vertex;
  TimeOfTimedRecord event_time_ms;
  TableBytes tables;  // that were joined since
};

}  // namespace glaive::engine
