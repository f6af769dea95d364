// PickPolicy: in which order a round visits the fibers.
//
// Injected into a Scheduler, used by its thread only. A policy permutes, it cannot leave a fiber out: the
// scheduler checks that every live fiber is visited exactly once a round, so no policy can starve one.
//
//   RandomPickPolicy policy(seed);
//   Scheduler scheduler({.pick_policy = &policy});
#pragma once

#include <cstdint>
#include <span>

namespace glaive::engine {

class Fiber;

/// See the head of this file.
class PickPolicy {
 public:
  virtual ~PickPolicy() = default;

  /// Permutes `fibers`: all live fibers, in the order the last round left them, new ones at the end in order of
  /// spawning. Called once a round; must not allocate.
  virtual void Order(std::span<Fiber*> fibers) = 0;
};

/// Round robin: RDMA fibers in order of spawning, then compute fibers in order of spawning.
class RdmaFirstPolicy final : public PickPolicy {
 public:
  void Order(std::span<Fiber*> fibers) override;
};

/// A new random order each round, the same for the same seed. For tests: finds what depends on the order.
class RandomPickPolicy final : public PickPolicy {
 public:
  explicit RandomPickPolicy(std::uint64_t seed) : state_(seed) {}

  void Order(std::span<Fiber*> fibers) override;

 private:
  std::uint64_t Next();

  std::uint64_t state_;
};

}  // namespace glaive::engine
