// ParseTaskEvent: a line of the CSV files task_events/part-?????-of-?????.csv.gz of Google's cluster trace of 2011
// (clusterdata-2011-2), for a LineSource.
//
// Thirteen fields, without quotes and without a heading:
//
//   time, missing info, job ID, task index, machine ID, event type, user, scheduling class, priority,
//   CPU request, memory request, disk space request, different machines restriction
//
// Time, job, task, event type and priority must be there; the trace may leave the others empty, which is 0 in the
// record. The user's name, an opaque string, becomes its XXH32. Missing info says why the trace's makers added the row;
// it is checked and dropped.
//
// Two times are no times. 0 is everything before the trace began: such rows come first in the trace, and stay at event
// time 0. 2^63 - 1 is everything after its end: an event time like that would close every window, so those rows are
// Parsed::kOutside, counted and not read.
//
//   From(Lines<TaskEvent>(files, ParseTaskEvent{}, TaskEventTime{}))...
#pragma once

#include <string_view>

#include "engine/format/line_parser.h"
#include "queries/cm/task_event.h"

namespace glaive::queries::cm {

struct ParseTaskEvent {
  engine::Parsed operator()(std::string_view line, TaskEvent& event, engine::ParseError& error) const;
};

}  // namespace glaive::queries::cm
