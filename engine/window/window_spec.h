// What a query writes to group records by event time: `.Window(Tumbling{absl::Minutes(10)})`.
//
// Tumbling and sliding windows start at multiples of their slide, counted from 1970; a record belongs to those that
// cover its event time. Lengths are whole milliseconds, at least 1. Anything else is a defect of the query.
#pragma once

#include "absl/time/time.h"

namespace glaive::engine {

/// Windows of one length that follow each other without gap or overlap.
struct Tumbling {
  absl::Duration size;
};

/// Windows of one length, a new one every `slide`, which is at most `size`. A leader keeps a table for each slide of a
/// window, of 4 KiB at least. Some 2^19 slides in a window of 1 ms slides are the most: event times until 2248 fit
/// then.
struct Sliding {
  absl::Duration size;
  absl::Duration slide;
};

/// Windows of each key's own: a session goes on as long as the next record comes less than `gap` after one of it. It
/// covers its records' event times and the gap behind the last.
struct Session {
  absl::Duration gap;
};

/// No windows: everything since the beginning. For each multiple of `every`, counted from 1970, that the watermark
/// passes, and for the next one at the end of the stream: a result for each key that has changed since the one before,
/// the aggregate of all its records before that time. A record that is behind the watermark counts from the next one
/// on; none is late. Without `every` there is one result a key, at the end. A leader keeps a table of all keys.
struct Unbounded {
  absl::Duration every = absl::InfiniteDuration();
};

}  // namespace glaive::engine
