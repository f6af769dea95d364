// How bench/write_order ends when it cannot tell: 1 is a verdict there.
#pragma once

#include <utility>

#include "absl/status/statusor.h"

#include "bench/common/or_die.h"

namespace glaive::bench {

inline constexpr int kOrderFailed = 3;  ///< as an exit code

template <typename T>
T OrFail(absl::StatusOr<T> value) {
  return OrDie(std::move(value), kOrderFailed);
}

}  // namespace glaive::bench
