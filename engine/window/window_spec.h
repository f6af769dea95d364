// What a query writes to group records by event time: `.Window(Tumbling{absl::Minutes(10)})`.
//
// Windows start at multiples of their slide, counted from 1970; a record belongs to those that cover its event time.
// Lengths are whole milliseconds, at least 1. Anything else is a defect of the query.
#pragma once

#include "absl/time/time.h"

namespace glaive::engine {

/// Windows of one length that follow each other without gap or overlap.
struct Tumbling {
  absl::Duration size;
};

/// Windows of one length, a new one every `slide`, which is at most `size`.
struct Sliding {
  absl::Duration size;
  absl::Duration slide;
};

}  // namespace glaive::engine
