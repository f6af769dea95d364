// What becomes of a producer's other consumers while one of them holds up the producer.

#include "engine/graph/other_consumers.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/scheduler.h"
#include "engine/graph/output.h"
#include "engine/graph/union.h"
#include "tests/rdma/hand_clock.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;

constexpr int kMostRounds = 20;
constexpr int kNumbers[] = {1, 2, 3};
constexpr Batch<int> kNumbersBatch{.records = kNumbers};

/// What consumers have been called for.
using Calls = std::vector<std::string>;

/// Wants a turn at any time, and notes each.
class Attended final : public Consumer<int> {
 public:
  Attended(Calls& calls, std::string name) : calls_(&calls), name_(std::move(name)) {}

  void Take(Fiber& /*fiber*/, const Batch<int>& /*batch*/) override {}
  void On(Fiber& /*fiber*/, const Control& /*control*/) override {}
  bool WantsTurn(const Turn& /*turn*/) const override { return true; }
  void Attend(Fiber& /*fiber*/, const Turn& turn) override {
    EXPECT_TRUE(turn.held_up);
    calls_->push_back(name_);
  }

 private:
  Calls* calls_;
  std::string name_;
};

/// Holds up its producer until `released`: in a batch, in a turn, and at the end of the stream.
class Waiting final : public Consumer<int> {
 public:
  Waiting(const Clock& clock, const bool& released) : clock_(&clock), released_(&released) {}

  void Take(Fiber& fiber, const Batch<int>& /*batch*/) override { Wait(fiber); }
  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<EndOfStream>(control)) Wait(fiber);
  }
  bool WantsTurn(const Turn& /*turn*/) const override { return true; }
  void Attend(Fiber& fiber, const Turn& /*turn*/) override { Wait(fiber); }

 private:
  void Wait(Fiber& fiber) {
    WaitAndAttend(fiber, *clock_, others(), [this] { return *released_; });
  }

  const Clock* clock_;
  const bool* released_;
};

/// Hands on what it takes in, in its producer's fiber, as a flat map does.
class HandingOn final : public Consumer<int> {
 public:
  void Take(Fiber& fiber, const Batch<int>& batch) override { output.Emit(fiber, batch); }
  void On(Fiber& fiber, const Control& control) override { output.Emit(fiber, control); }
  void SetOthers(OtherConsumers& others) override { output.SetUpstream(&others); }

  Output<int> output;
};

class OtherConsumersTest : public ::testing::Test {
 protected:
  /// Runs `produce(fiber)` for some rounds, then releases those that wait: `produce` comes to its end then.
  template <typename ProduceFn>
  void HoldUp(const ProduceFn& produce) {
    Scheduler scheduler{{}};
    ASSERT_TRUE(scheduler.Spawn("producer", FiberKind::kCompute, produce).ok());
    scheduler.RunRound();
    scheduler.RunRound();
    EXPECT_FALSE(scheduler.done());
    seen_ = calls_;
    released_ = true;
    for (int i = 0; i < kMostRounds && !scheduler.done(); ++i) scheduler.RunRound();
    EXPECT_TRUE(scheduler.done());
  }

  rdma::HandClock clock_;
  Calls calls_;
  Calls seen_;  // the calls while one was waiting
  Attended first_{calls_, "first"};
  Attended last_{calls_, "last"};
  bool released_ = false;
  Waiting waiting_{clock_, released_};
  Output<int> output_;
};

TEST_F(OtherConsumersTest, HaveTheTurnsThatTheyWant) {
  output_.Add(first_);
  output_.Add(waiting_);
  output_.Add(last_);
  HoldUp([&](Fiber& fiber) { output_.Emit(fiber, kNumbersBatch); });
  EXPECT_THAT(seen_, ElementsAre("first", "last"));
}

TEST_F(OtherConsumersTest, OfProducersFurtherUpHaveThemToo) {
  HandingOn outer;
  HandingOn inner;
  output_.Add(outer);
  output_.Add(first_);
  outer.output.Add(inner);
  outer.output.Add(last_);
  inner.output.Add(waiting_);
  HoldUp([&](Fiber& fiber) { output_.Emit(fiber, kNumbersBatch); });
  EXPECT_THAT(seen_, ElementsAre("last", "first"));
}

TEST_F(OtherConsumersTest, BehindTheEndOfTheirStreamHaveNone) {
  output_.Add(first_);
  output_.Add(waiting_);
  output_.Add(last_);
  HoldUp([&](Fiber& fiber) { output_.Emit(fiber, EndOfStream{}); });
  EXPECT_THAT(seen_, ElementsAre("last"));
}

TEST_F(OtherConsumersTest, MayWaitInATurnThatTheyAreGiven) {
  Waiting other(clock_, released_);
  output_.Add(waiting_);
  output_.Add(other);
  HoldUp([&](Fiber& fiber) { output_.Emit(fiber, kNumbersBatch); });
}

/// A producer may be connected with a union twice. The union is being called by the fiber that waits: to wait for the
/// end of that call would be to wait for ever.
TEST_F(OtherConsumersTest, OfAUnionThatIsBeingCalledWaitForNoPort) {
  TaskContext context;
  context.clock = &clock_;
  UnionOperator<int> all(context, {.has_event_times = false});
  all.AddPort();
  all.AddPort();
  output_.Add(all.port(0));
  output_.Add(first_);
  output_.Add(all.port(1));
  Producer<int>& producer = all;
  producer.output().Add(waiting_);
  producer.output().Add(last_);
  HoldUp([&](Fiber& fiber) { output_.Emit(fiber, kNumbersBatch); });
  EXPECT_THAT(seen_, ElementsAre("last", "first"));
}

TEST_F(OtherConsumersTest, OfAnotherPortHaveTurnsWhileThatPortWaits) {
  TaskContext context;
  context.clock = &clock_;
  UnionOperator<int> all(context, {.has_event_times = false});
  all.AddPort();
  all.AddPort();
  Output<int> other_output;
  output_.Add(all.port(0));
  other_output.Add(all.port(1));
  other_output.Add(first_);
  static_cast<Producer<int>&>(all).output().Add(waiting_);
  Scheduler scheduler{{}};
  for (Output<int>* output : {&output_, &other_output}) {
    ASSERT_TRUE(
        scheduler.Spawn("producer", FiberKind::kCompute, [=](Fiber& fiber) { output->Emit(fiber, kNumbersBatch); })
            .ok());
  }
  for (int i = 0; i < 3; ++i) scheduler.RunRound();
  EXPECT_THAT(calls_, ::testing::Contains("first"));
  released_ = true;
  for (int i = 0; i < kMostRounds && !scheduler.done(); ++i) scheduler.RunRound();
  EXPECT_TRUE(scheduler.done());
}

}  // namespace
}  // namespace glaive::engine
