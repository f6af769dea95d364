#include "engine/fiber/idle_strategy.h"

#include <immintrin.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

namespace glaive::engine {
namespace {

constexpr int kPausesPerSpin = 2;

}  // namespace

IdleStep BackoffIdleStrategy::NextStep() {
  if (idle_rounds_ < options_.spin_rounds) {
    ++idle_rounds_;
    return {.kind = IdleStep::Kind::kSpin};
  }
  if (idle_rounds_ - options_.spin_rounds < options_.yield_rounds) {
    ++idle_rounds_;
    return {.kind = IdleStep::Kind::kYield};
  }
  const std::int64_t sleep_ns = std::min(next_sleep_ns_, options_.max_sleep_ns);
  next_sleep_ns_ = std::min(sleep_ns + sleep_ns / 4, options_.max_sleep_ns);
  return {.kind = IdleStep::Kind::kSleep, .sleep_ns = sleep_ns};
}

void BackoffIdleStrategy::Idle() {
  const IdleStep step = NextStep();
  switch (step.kind) {
    case IdleStep::Kind::kSpin:
      for (int i = 0; i < kPausesPerSpin; ++i) {
        _mm_pause();
      }
      return;
    case IdleStep::Kind::kYield:
      sched_yield();
      return;
    case IdleStep::Kind::kSleep: {
      // Woken early by a signal is as good: the next round polls for work either way.
      const timespec duration{.tv_sec = step.sleep_ns / 1'000'000'000, .tv_nsec = step.sleep_ns % 1'000'000'000};
      nanosleep(&duration, nullptr);
      return;
    }
  }
}

}  // namespace glaive::engine
