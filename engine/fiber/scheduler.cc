#include "engine/fiber/scheduler.h"

#include <algorithm>
#include <utility>

#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

// Stacks are page-aligned, so their hot frames would all compete for the same few lines of the first-level cache: each
// fiber starts some way further down than the one before. Boost aligns to 256 bytes; 16 steps go round a page.
constexpr std::size_t kColourBytes = 256;
constexpr std::size_t kColours = 16;

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options)
    : clock_(options.clock),
      observer_(options.observer),
      pick_policy_(options.pick_policy != nullptr ? options.pick_policy : &rdma_first_),
      stacks_(options.stack_bytes) {}

Scheduler::~Scheduler() { Cancel(); }

absl::Status Scheduler::Spawn(std::string name, FiberKind kind, std::function<void(Fiber&)> body) {
  GLAIVE_CHECK(!cancelling_, "fiber ", name, " was spawned while its scheduler was being cancelled");
  absl::StatusOr<Stack> stack = stacks_.Acquire();
  if (!stack.ok()) {
    return stack.status();
  }
  const std::size_t colour = fibers_.size() % kColours;
  fibers_.push_back(std::unique_ptr<Fiber>(
      new Fiber(*std::move(stack), colour * kColourBytes, std::move(name), kind, std::move(body))));
  spawned_.push_back(fibers_.back().get());
  return absl::OkStatus();
}

// Inlined into the loop for the same reason as Fiber::Yield into the body.
[[gnu::always_inline]] inline void Scheduler::RunFiber(Fiber& fiber) {
  const std::int64_t started_ns = clock_ != nullptr ? clock_->NowNanos() : 0;
  ++fiber.stats_.switches;
  fiber.state_ = Fiber::State::kRunning;
  running_ = &fiber;
  const bool alive = fiber.context_.Resume();
  running_ = nullptr;
  if (clock_ != nullptr) {
    fiber.stats_.longest_run_ns = std::max(fiber.stats_.longest_run_ns, clock_->NowNanos() - started_ns);
  }
  if (!alive) {
    Retire(fiber);
    ++finished_in_round_;
  }
}

bool Scheduler::RunRound() {
  GLAIVE_CHECK(running_ == nullptr, "fiber ", running_->name(), " called RunRound");
  if (!spawned_.empty()) {
    order_.insert(order_.end(), spawned_.begin(), spawned_.end());
    spawned_.clear();
  }
  pick_policy_->Order(order_);
  ++round_;
  bool any_ran = false;
  for (Fiber* fiber : order_) {
    GLAIVE_CHECK(fiber->visited_in_round_ != round_, "the pick policy names fiber ", fiber->name(), " twice in round ",
                 round_);
    fiber->visited_in_round_ = round_;
    if (observer_ != nullptr) {
      observer_->BeforeVisit(*fiber);
    }
    if (fiber->state_ == Fiber::State::kParked && !(*fiber->ready_)()) {
      continue;
    }
    if (observer_ != nullptr) {
      observer_->BeforeTurn(*fiber);
    }
    RunFiber(*fiber);
    any_ran = true;
    if (!failure_.ok()) [[unlikely]] {
      break;
    }
  }
  if (finished_in_round_ != 0) {
    DropFinished();
  }
  return any_ran;
}

void Scheduler::Retire(Fiber& fiber) {
  fiber.state_ = Fiber::State::kFinished;
  stacks_.Release(fiber.context_.TakeStack());
  fiber.body_ = nullptr;
  failure_.Update(fiber.failure_);
}

void Scheduler::DropFinished() {
  std::erase_if(order_, [](const Fiber* fiber) { return fiber->finished(); });
  finished_in_round_ = 0;
}

void Scheduler::Cancel() {
  GLAIVE_CHECK(running_ == nullptr, "fiber ", running_->name(), " cancels its own scheduler");
  cancelling_ = true;
  for (auto fiber = fibers_.rbegin(); fiber != fibers_.rend(); ++fiber) {
    if ((*fiber)->finished()) {
      continue;
    }
    running_ = fiber->get();
    running_->state_ = Fiber::State::kUnwinding;
    if (running_->stats_.switches == 0) {
      running_->context_.Resume();
    } else {
      running_->context_.Unwind();
    }
    running_ = nullptr;
    Retire(**fiber);
  }
  order_.clear();
  spawned_.clear();
  cancelling_ = false;
}

}  // namespace glaive::engine
