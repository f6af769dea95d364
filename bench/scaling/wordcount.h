// The count of words among the workloads, in the form whose counts are merged and in the one whose words move, with a
// hand-written loop (queries/wordcount/word_loop.h), whose table has views of the words or, of most words, the words
// themselves. A record is a line. See aggregations.h for the errors.
#pragma once

#include "absl/status/statusor.h"

#include "bench/scaling/input_size.h"
#include "bench/scaling/workload.h"

namespace glaive::bench {

absl::StatusOr<Workload> MakeWordcount(const InputSize& size);
absl::StatusOr<Workload> MakeWordcountBesideCells(const InputSize& size);

}  // namespace glaive::bench
