#include "engine/fiber/fiber.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/scheduler.h"
#include "tests/engine/reexecuted_death_test.h"

namespace glaive::engine {
namespace {

using testing::ElementsAre;
using FiberDeathTest = ReexecutedDeathTest;

void SpawnCompute(Scheduler& scheduler, std::string name, std::function<void(Fiber&)> body) {
  ASSERT_TRUE(scheduler.Spawn(std::move(name), FiberKind::kCompute, std::move(body)).ok());
}

// Uses `depth` frames of about 1 KiB each.
int Recurse(int depth) {  // NOLINT(misc-no-recursion)
  std::array<volatile char, 1'000> frame;
  frame[static_cast<std::size_t>(depth) % frame.size()] = 1;
  const int below = depth == 0 ? 0 : Recurse(depth - 1);
  return below + frame[static_cast<std::size_t>(depth) % frame.size()];
}

TEST(FiberTest, YieldGivesUpTheTurnAndKeepsTheStack) {
  Scheduler scheduler({});
  std::vector<int> log;
  SpawnCompute(scheduler, "counts", [&log](Fiber& fiber) {
    for (int local = 0; local < 3; ++local) {
      log.push_back(local);
      fiber.Yield();
    }
  });
  for (int round = 0; round < 4; ++round) {
    log.push_back(100 + round);
    EXPECT_TRUE(scheduler.RunRound());
  }
  EXPECT_THAT(log, ElementsAre(100, 0, 101, 1, 102, 2, 103));
  EXPECT_TRUE(scheduler.done());
}

TEST(FiberTest, WaitUntilParksUntilThePredicateIsTrue) {
  Scheduler scheduler({});
  bool arrived = false;
  int polls = 0;
  bool merged = false;
  SpawnCompute(scheduler, "receive", [&](Fiber& fiber) {
    fiber.WaitUntil([&] {
      ++polls;
      return arrived;
    });
    merged = true;
  });
  EXPECT_TRUE(scheduler.RunRound());  // runs into the wait
  EXPECT_FALSE(scheduler.RunRound());
  EXPECT_FALSE(scheduler.RunRound());
  EXPECT_EQ(polls, 2);
  arrived = true;
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_EQ(polls, 3);
  EXPECT_TRUE(merged);
  EXPECT_TRUE(scheduler.done());
}

TEST(FiberTest, WaitUntilEndsTheTurnEvenIfThePredicateIsTrueAlready) {
  Scheduler scheduler({});
  int waits = 0;
  SpawnCompute(scheduler, "greedy", [&](Fiber& fiber) {
    while (waits < 3) {
      fiber.WaitUntil([] { return true; });
      ++waits;
    }
  });
  for (int expected = 0; expected <= 3; ++expected) {
    EXPECT_TRUE(scheduler.RunRound());
    EXPECT_EQ(waits, expected);
  }
}

TEST(FiberTest, ThePredicateStillHoldsWhenTheWaitReturns) {
  // Two fibers wait for the same single segment; whoever comes second must not see the wait return.
  Scheduler scheduler({});
  int segments = 0;
  int taken = 0;
  for (int i = 0; i < 2; ++i) {
    SpawnCompute(scheduler, "takes", [&](Fiber& fiber) {
      fiber.WaitUntil([&] { return segments > 0; });
      ASSERT_GT(segments, 0);
      --segments;
      ++taken;
    });
  }
  scheduler.RunRound();
  segments = 1;
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_EQ(taken, 1);
  EXPECT_FALSE(scheduler.RunRound());
  segments = 1;
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_TRUE(scheduler.done());
}

TEST(FiberTest, TheBodysCapturesGoWithTheFiber) {
  Scheduler scheduler({});
  auto token = std::make_shared<int>(7);
  SpawnCompute(scheduler, "holds", [token](Fiber& fiber) { fiber.Yield(); });
  EXPECT_EQ(token.use_count(), 2);
  scheduler.RunRound();
  EXPECT_EQ(token.use_count(), 2);
  scheduler.RunRound();
  EXPECT_EQ(token.use_count(), 1);
}

TEST(FiberTest, AnExceptionHandledInsideTheBodyIsTheBodysOwnAffair) {
  Scheduler scheduler({});
  std::vector<std::string> log;
  for (int i = 0; i < 2; ++i) {
    SpawnCompute(scheduler, "throws", [&log](Fiber& fiber) {
      for (int turn = 0; turn < 3; ++turn) {
        try {
          throw std::runtime_error("inside");
        } catch (const std::runtime_error& error) {
          log.push_back(error.what());
        }
        fiber.Yield();
      }
    });
  }
  while (!scheduler.done()) {
    scheduler.RunRound();
  }
  EXPECT_EQ(log.size(), 6u);
}

TEST(FiberTest, DeepFramesFitTheStackThatWasAskedFor) {
  Scheduler scheduler({.stack_bytes = 256 * 1024});
  int result = 0;
  SpawnCompute(scheduler, "deep", [&result](Fiber& fiber) {
    result = Recurse(150);
    fiber.Yield();
    result += Recurse(150);
  });
  scheduler.RunRound();
  scheduler.RunRound();
  EXPECT_EQ(result, 302);
}

TEST_F(FiberDeathTest, AStackOverflowEndsTheProcess) {
  Scheduler scheduler({.stack_bytes = 64 * 1024});
  SpawnCompute(scheduler, "bottomless", [](Fiber&) { Recurse(1'000'000); });
  EXPECT_DEATH(scheduler.RunRound(), "");
}

TEST(FiberTest, MemoryThatAFiberCannotHaveIsItsSchedulersFailure) {
  Scheduler scheduler({});
  int later_turns = 0;
  SpawnCompute(scheduler, "greedy", [](Fiber& fiber) {
    fiber.Yield();
    throw std::bad_alloc();
  });
  SpawnCompute(scheduler, "other", [&later_turns](Fiber& fiber) {
    while (true) {
      ++later_turns;
      fiber.Yield();
    }
  });
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_EQ(scheduler.failure(), absl::OkStatus());
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_EQ(scheduler.failure().code(), absl::StatusCode::kResourceExhausted) << scheduler.failure();
  EXPECT_EQ(later_turns, 1) << "its round ends at once: what it was about to change may be half done";
  scheduler.Cancel();
  EXPECT_TRUE(scheduler.done());
}

TEST_F(FiberDeathTest, AnEscapingExceptionEndsTheProcessWithTheFibersName) {
  Scheduler scheduler({});
  SpawnCompute(scheduler, "merge from executor 3", [](Fiber& fiber) {
    fiber.Yield();
    throw std::runtime_error("out of luck");
  });
  scheduler.RunRound();
  EXPECT_DEATH(scheduler.RunRound(), "fiber merge from executor 3 ended with an exception: out of luck");
  SpawnCompute(scheduler, "odd", [](Fiber&) { throw 7; });  // NOLINT(bugprone-std-exception-baseclass): it is odd
  EXPECT_DEATH(scheduler.RunRound(), "fiber (merge from executor 3|odd) ended with an exception");
}

TEST_F(FiberDeathTest, SuspendingAnotherFiberIsRefused) {
  Scheduler scheduler({});
  Fiber* first = nullptr;
  SpawnCompute(scheduler, "first", [&first](Fiber& fiber) {
    first = &fiber;
    while (true) {
      fiber.Yield();
    }
  });
  scheduler.RunRound();
  EXPECT_DEATH(first->Yield(), "fiber first was suspended from outside its own body");
  SpawnCompute(scheduler, "second", [&first](Fiber&) { first->Yield(); });
  EXPECT_DEATH(scheduler.RunRound(), "fiber first was suspended from outside its own body");
}

}  // namespace
}  // namespace glaive::engine
