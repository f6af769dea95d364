// IdleStrategy: how an executor spends a round in which no fiber ran: it spins, yields or sleeps.
//
// Owned by one executor, called by its thread, outside any fiber: this is the one place where an executor lets the
// kernel have the processor.
//
//   while (!scheduler.done()) {
//     if (scheduler.RunRound()) idle.Reset(); else idle.Idle();
//   }
#pragma once

#include <cstdint>

namespace glaive::engine {

/// See the head of this file.
class IdleStrategy {
 public:
  virtual ~IdleStrategy() = default;

  /// After a round in which nothing ran. May sleep.
  virtual void Idle() = 0;
  /// After a round in which something ran.
  virtual void Reset() = 0;
};

/// Never waits: for tests, and for executors that share one thread.
class NoWait final : public IdleStrategy {
 public:
  void Idle() override {}
  void Reset() override {}
};

/// How BackoffIdleStrategy backs off. Counts are in rounds, so that no clock is read. The defaults spin for
/// about 5 us and keep an executor that has nothing to do below 1 % of a core. Each sleep is a quarter longer than the
/// one before: what arrives waits at most a fifth of the silence before it, and never longer than the longest sleep.
struct BackoffOptions {
  std::uint32_t spin_rounds = 64;   // first: stay on the processor, one burst of pauses a round
  std::uint32_t yield_rounds = 16;  // then: sched_yield, for whoever shares the processor
  std::int64_t first_sleep_ns = 50'000;
  std::int64_t max_sleep_ns = 10'000'000;
};

/// One step of the back-off.
struct IdleStep {
  enum class Kind : std::uint8_t { kSpin, kYield, kSleep };

  Kind kind = Kind::kSpin;
  std::int64_t sleep_ns = 0;  // for kSleep

  friend bool operator==(const IdleStep&, const IdleStep&) = default;
};

/// Spins, then yields the processor, then sleeps for longer and longer; starts over on Reset().
class BackoffIdleStrategy final : public IdleStrategy {
 public:
  explicit BackoffIdleStrategy(const BackoffOptions& options) : options_(options) { Reset(); }

  void Idle() override;
  void Reset() override {
    idle_rounds_ = 0;
    next_sleep_ns_ = options_.first_sleep_ns;
  }

  /// Decides the next step, without taking it, and moves on.
  IdleStep NextStep();

 private:
  BackoffOptions options_;
  std::uint32_t idle_rounds_ = 0;  // stops counting where sleeping begins
  std::int64_t next_sleep_ns_ = 0;
};

}  // namespace glaive::engine
