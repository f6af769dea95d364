// InputSize: how much input a workload has, and which keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "queries/common/generator.h"

namespace glaive::bench {

struct InputSize {
  std::uint64_t records = 0;      // in memory for each executor; 0: 1 GB of them, or less for more than two executors
  std::uint64_t windows = 10;     // that these span
  std::uint64_t repetitions = 3;  // times they are read, with later event times
  std::uint64_t keys = 1;         // distinct ones
  std::string key_distribution = "uniform";
  std::uint32_t executors = 1;  // whose input is generated

  /// `records`, or as many of `record_bytes` as 0 stands for.
  std::uint64_t RecordsOf(std::uint64_t record_bytes) const {
    constexpr std::uint64_t kAllBytes = 2'000'000'000;
    return records != 0 ? records : kAllBytes / std::max(2U, executors) / record_bytes;
  }
};

/// The input of one kind of records, which span `span_ms` from a multiple of `align_ms` on. InvalidArgument if the
/// distribution of keys is none.
inline absl::StatusOr<queries::InputOptions> InputOf(const InputSize& size, std::uint64_t records, std::int64_t span_ms,
                                                     std::int64_t align_ms) {
  const absl::StatusOr<queries::KeyLaw> law = queries::KeyLaw::Parse(size.key_distribution);
  if (!law.ok()) {
    return law.status();
  }
  queries::InputOptions input{.keys = {.count = size.keys, .law = *law},
                              .timeline = {.rate = {.records = records, .span_ms = span_ms}, .align_ms = align_ms}};
  absl::Status status = Validate(input);
  return status.ok() ? absl::StatusOr<queries::InputOptions>(input) : status;
}

}  // namespace glaive::bench
