// Generator: a query's input as a pure function of (options, executor, record number).
//
// Immutable after construction, safe to share between threads. Any executor can produce any part of any executor's
// input in any order, so a restart or a check needs only numbers.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "queries/common/key_distribution.h"
#include "queries/common/timeline.h"

namespace glaive::queries {

/// What the inputs of all queries have in common.
struct InputOptions {
  std::uint64_t seed = 1;
  KeyOptions keys = {};
  TimelineOptions timeline = {};
};

/// InvalidArgument naming the option and its bounds.
inline absl::Status Validate(const InputOptions& options) {
  absl::Status status = Validate(options.keys);
  status.Update(Validate(options.timeline));
  return status;
}

template <typename R>
class Generator {
 public:
  virtual ~Generator() = default;

  /// Records first .. first + records.size() - 1 of an executor's input.
  virtual void Fill(std::uint32_t executor, std::uint64_t first, std::span<R> records) const = 0;
};

}  // namespace glaive::queries
