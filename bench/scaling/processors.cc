#include "bench/scaling/processors.h"

#include <iterator>

#include "engine/metrics/machine.h"

namespace glaive::bench {

std::vector<int> ProcessorsFor(std::size_t count) {
  const std::vector<int> allowed = engine::AllowedCpus();
  if (allowed.size() < count) {
    return {};
  }
  return {allowed.rbegin(), std::next(allowed.rbegin(), static_cast<std::ptrdiff_t>(count))};
}

}  // namespace glaive::bench
