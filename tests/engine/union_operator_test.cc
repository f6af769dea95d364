// How far a port of a union may be ahead: UnionOperator called by hand, without sources. union_test.cc runs clusters.

#include <cstdint>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "engine/fiber/scheduler.h"
#include "engine/flow/control.h"
#include "engine/graph/union.h"
#include "tests/rdma/hand_clock.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kMostLeadMs = 1'000;

/// A consumer that compares streams, and is behind none.
class ComparingConsumer final : public Consumer<int> {
 public:
  void Take(Fiber& /*fiber*/, const Batch<int>& /*batch*/) override {}
  void On(Fiber& /*fiber*/, const Control& /*control*/) override {}
  std::optional<std::int64_t> watermark_ms() const override { return 0; }
};

/// A union whose decision for a producer beside its ports, as an exchange has one, is to be seen.
class ComparedUnion final : public UnionOperator<int> {
 public:
  using UnionOperator<int>::UnionOperator;
  using UnionOperator<int>::output;

  /// Whether a producer leads too far that is not idle, has begun at `first_ms` and is at `watermark_ms`.
  bool ActiveProducerLeadsTooFar(std::int64_t first_ms, std::int64_t watermark_ms) const {
    Position at;
    at.MoveTo(first_ms);
    at.MoveTo(watermark_ms);
    return LeadsTooFar(at, 0);
  }
};

/// Two ports. The second one has begun at 100 ms and is at 5,000 ms, 4,000 ms ahead of the first one.
class LeadOfPorts : public ::testing::Test {
 protected:
  LeadOfPorts() {
    context_.clock = &clock_;
    union_.emplace(context_, UnionOperator<int>::Options{.max_lead_ms = kMostLeadMs});
    union_->output().Add(consumer_);
    union_->AddPort();
    union_->AddPort();
    Tell(0, Watermark{.time_ms = 1'000});
    Tell(1, Watermark{.time_ms = 100});
    Tell(1, Watermark{.time_ms = 5'000});
  }

  /// Calls a port from a fiber.
  void Tell(std::size_t port, const Control& control) {
    Scheduler scheduler{{}};
    const auto body = [this, port, &control](Fiber& fiber) { union_->port(port).On(fiber, control); };
    ASSERT_TRUE(scheduler.Spawn("producer", FiberKind::kCompute, body).ok());
    for (int round = 0; round < 3 && !scheduler.done(); ++round) scheduler.RunRound();
    ASSERT_TRUE(scheduler.done());
  }

  rdma::HandClock clock_;
  TaskContext context_;
  ComparingConsumer consumer_;
  std::optional<ComparedUnion> union_;
};

TEST_F(LeadOfPorts, IsOverThePortsThatAreActive) {
  EXPECT_TRUE(union_->port(1).LeadsTooFar(0));
  EXPECT_FALSE(union_->port(0).LeadsTooFar(0));
}

/// An idle port that waited would never become active, and nobody else is there to become it.
TEST_F(LeadOfPorts, IsNoneOfAnIdlePortBesideAnEndedOne) {
  Tell(1, Idle{});
  Tell(0, EndOfStream{});
  EXPECT_FALSE(union_->port(1).LeadsTooFar(0)) << "its source may read again";
  Tell(1, Active{});
  EXPECT_FALSE(union_->port(1).LeadsTooFar(0)) << "it is the only one";
}

/// Behind an exchange, ports are idle or have ended before the executor's own producer knows of it.
TEST_F(LeadOfPorts, IsNoneWhileNoPortIsActive) {
  EXPECT_TRUE(union_->ActiveProducerLeadsTooFar(100, 9'000));
  Tell(1, Idle{});
  Tell(0, EndOfStream{});
  EXPECT_FALSE(union_->ActiveProducerLeadsTooFar(100, 9'000));
}

/// The port goes on whatever its source reads, and the others may never come as far.
TEST_F(LeadOfPorts, IsNoneOfAPortThatGoesByTheClock) {
  union_->AddPort({.goes_by_clock = true});
  Tell(2, Watermark{.time_ms = 100});
  Tell(2, Watermark{.time_ms = 9'000});
  EXPECT_FALSE(union_->port(2).LeadsTooFar(0));
  EXPECT_TRUE(union_->port(1).LeadsTooFar(0)) << "the other ports are compared";
}

}  // namespace
}  // namespace glaive::engine
