// ReadAhead: asks for memory that will be read soon, a few cache lines at a time, while something else is computed.
//
// Reading records that no cache has yet takes longer than all work on them. The processor's own prefetchers only help
// while it reads one after the other. So a stage that filters a batch first and folds the selected records afterwards
// would leave the memory unused while it folds.
//
// Owned and used by one fiber, on its stack.
//
//   ReadAhead ahead(std::as_bytes(batch.upcoming), selected.size());
//   for (const Record* record : selected) { Fold(*record); ahead.Step(); }
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "rdma/base/prefetch.h"

namespace glaive::engine {

class ReadAhead {
 public:
  /// Shares `bytes` out among so many `steps`, at most kMostLines to each: what is left then is not asked for.
  ReadAhead(std::span<const std::byte> bytes, std::size_t steps)
      : data_(bytes.data()),
        size_bytes_(bytes.size()),
        step_bytes_(std::min(bytes.size() / (kLineBytes * std::max<std::size_t>(steps, 1)) + 1, kMostLines) *
                    kLineBytes) {}

  /// Asks for the next lines, if any are left.
  [[gnu::always_inline]] void Step() {
    const std::size_t end = std::min(next_ + step_bytes_, size_bytes_);
    for (; next_ < end; next_ += kLineBytes) {
      Prefetch(data_ + next_);
    }
  }

 private:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kMostLines = 8;

  const std::byte* data_;
  std::size_t size_bytes_;
  std::size_t step_bytes_;
  std::size_t next_ = 0;
};

}  // namespace glaive::engine
