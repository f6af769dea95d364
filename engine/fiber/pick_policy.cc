#include "engine/fiber/pick_policy.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/fiber/fiber.h"
#include "rdma/base/mix.h"

namespace glaive::engine {

void RdmaFirstPolicy::Order(std::span<Fiber*> fibers) {
  // A stable partition that neither allocates nor moves anything in a round without new fibers.
  std::size_t rdma_fibers = 0;
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    if (fibers[i]->kind() != FiberKind::kRdma) {
      continue;
    }
    if (i != rdma_fibers) {
      const auto begin = fibers.begin();
      std::rotate(begin + static_cast<std::ptrdiff_t>(rdma_fibers), begin + static_cast<std::ptrdiff_t>(i),
                  begin + static_cast<std::ptrdiff_t>(i) + 1);
    }
    ++rdma_fibers;
  }
}

void RandomPickPolicy::Order(std::span<Fiber*> fibers) {
  for (std::size_t left = fibers.size(); left > 1; --left) {
    // The bias of the modulo is below left / 2^64.
    std::swap(fibers[left - 1], fibers[static_cast<std::size_t>(Next() % left)]);
  }
}

// SplitMix64.
std::uint64_t RandomPickPolicy::Next() {
  state_ += kMixStep;
  return Mix64(state_);
}

}  // namespace glaive::engine
