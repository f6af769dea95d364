#include "engine/fiber/scheduler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/idle_strategy.h"
#include "tests/engine/reexecuted_death_test.h"

namespace glaive::engine {
namespace {

using testing::ElementsAre;
using SchedulerDeathTest = ReexecutedDeathTest;

void Spawn(Scheduler& scheduler, std::string name, std::function<void(Fiber&)> body,
           FiberKind kind = FiberKind::kCompute) {
  ASSERT_TRUE(scheduler.Spawn(std::move(name), kind, std::move(body)).ok());
}

/// Time that moves on by itself with every reading.
class TickingClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return now_ns_ += 10; }
  void Advance(std::int64_t ns) { now_ns_ += ns; }

 private:
  mutable std::int64_t now_ns_ = 0;
};

/// Notes its destruction.
class Noted {
 public:
  Noted(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { log_.push_back(name_); }

 private:
  std::vector<std::string>& log_;
  std::string name_;
};

TEST(SchedulerTest, WithoutFibersItIsDoneAndIdle) {
  Scheduler scheduler({});
  EXPECT_TRUE(scheduler.done());
  EXPECT_FALSE(scheduler.RunRound());
  scheduler.Cancel();
}

TEST(SchedulerTest, RdmaFibersRunFirstAndEachKindInOrderOfSpawning) {
  Scheduler scheduler({});
  std::vector<std::string> log;
  const auto spawn = [&](const std::string& name, FiberKind kind) {
    Spawn(
        scheduler, name,
        [&log, name](Fiber& fiber) {
          for (int i = 0; i < 2; ++i) {
            log.push_back(name);
            fiber.Yield();
          }
        },
        kind);
  };
  spawn("source", FiberKind::kCompute);
  spawn("receive 1", FiberKind::kRdma);
  spawn("trigger", FiberKind::kCompute);
  spawn("receive 2", FiberKind::kRdma);
  scheduler.RunRound();
  EXPECT_THAT(log, ElementsAre("receive 1", "receive 2", "source", "trigger"));
  spawn("late sender", FiberKind::kRdma);
  log.clear();
  scheduler.RunRound();
  EXPECT_THAT(log, ElementsAre("receive 1", "receive 2", "late sender", "source", "trigger"));
}

TEST(SchedulerTest, AParkedFiberStallsNobody) {
  Scheduler scheduler({});
  std::uint64_t work = 0;
  Spawn(scheduler, "empty ring", [](Fiber& fiber) { fiber.WaitUntil([] { return false; }); }, FiberKind::kRdma);
  Spawn(scheduler, "source", [&work](Fiber& fiber) {
    while (true) {
      ++work;
      fiber.Yield();
    }
  });
  for (int round = 0; round < 1'000; ++round) {
    EXPECT_TRUE(scheduler.RunRound());
  }
  EXPECT_EQ(work, 1'000u);
}

TEST(SchedulerTest, ARoundInWhichAllAreParkedIsIdle) {
  Scheduler scheduler({});
  for (int i = 0; i < 5; ++i) {
    Spawn(scheduler, "parked", [](Fiber& fiber) { fiber.WaitUntil([] { return false; }); });
  }
  EXPECT_TRUE(scheduler.RunRound());
  EXPECT_FALSE(scheduler.RunRound());
  EXPECT_EQ(scheduler.live(), 5u);
  EXPECT_FALSE(scheduler.done());
}

TEST(SchedulerTest, AFiberSpawnedByAFiberRunsInTheNextRound) {
  Scheduler scheduler({});
  std::vector<std::string> log;
  Spawn(scheduler, "parent", [&](Fiber&) {
    log.push_back("parent");
    Spawn(scheduler, "child", [&](Fiber&) { log.push_back("child"); });
    EXPECT_EQ(scheduler.live(), 2u);
  });
  scheduler.RunRound();
  EXPECT_THAT(log, ElementsAre("parent"));
  EXPECT_EQ(scheduler.live(), 1u);
  scheduler.RunRound();
  EXPECT_THAT(log, ElementsAre("parent", "child"));
  EXPECT_TRUE(scheduler.done());
}

TEST(SchedulerTest, AThousandFibersEachGetTheirTurnEveryRound) {
  constexpr int kFibers = 1'000;
  Scheduler scheduler({.stack_bytes = 16 * 1024});
  std::vector<int> turns(kFibers);
  for (std::size_t i = 0; i < kFibers; ++i) {
    Spawn(scheduler, "one of many", [&turns, i](Fiber& fiber) {
      for (int turn = 0; turn < 10; ++turn) {
        ++turns[i];
        fiber.Yield();
      }
    });
  }
  for (int round = 1; round <= 10; ++round) {
    EXPECT_TRUE(scheduler.RunRound());
    EXPECT_THAT(turns, testing::Each(round));
  }
  scheduler.RunRound();
  EXPECT_TRUE(scheduler.done());
}

TEST(SchedulerTest, StacksOfFinishedFibersAreUsedAgain) {
  Scheduler scheduler({});
  int finished = 0;
  for (int i = 0; i < 500; ++i) {
    Spawn(scheduler, "short", [&finished](Fiber& fiber) {
      // A page of locals, so that a stack whose old frames were still in use would show.
      std::array<int, 1'000> locals;
      std::iota(locals.begin(), locals.end(), finished);
      fiber.Yield();
      EXPECT_EQ(locals.front() + 999, locals.back());
      ++finished;
    });
    scheduler.RunRound();
    scheduler.RunRound();
  }
  EXPECT_EQ(finished, 500);
  EXPECT_EQ(scheduler.stacks_mapped(), 1u);
}

TEST(SchedulerTest, SeveralSchedulersTakeTurnsInOneThread) {
  Scheduler ping({});
  Scheduler pong({});
  int ball = 0;
  Spawn(ping, "ping", [&ball](Fiber& fiber) {
    for (int i = 0; i < 100; ++i) {
      fiber.WaitUntil([&ball] { return ball % 2 == 0; });
      ++ball;
    }
  });
  Spawn(pong, "pong", [&ball](Fiber& fiber) {
    for (int i = 0; i < 100; ++i) {
      fiber.WaitUntil([&ball] { return ball % 2 == 1; });
      ++ball;
    }
  });
  while (!ping.done() || !pong.done()) {
    ping.RunRound();
    pong.RunRound();
  }
  EXPECT_EQ(ball, 200);
}

TEST(SchedulerTest, SchedulersOfTwoThreadsRunBesideEachOther) {
  constexpr int kRallies = 200;
  std::atomic<int> ball = 0;
  const auto play = [&ball](int side) {
    Scheduler scheduler({});
    Spawn(scheduler, "player", [&ball, side](Fiber& fiber) {
      for (int i = 0; i < kRallies; ++i) {
        // Acquires what the other thread released with its hit.
        fiber.WaitUntil([&ball, side] { return ball.load(std::memory_order_acquire) % 2 == side; });
        ball.store(ball.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      }
    });
    BackoffIdleStrategy idle({});
    while (!scheduler.done()) {
      if (scheduler.RunRound()) {
        idle.Reset();
      } else {
        idle.Idle();
      }
    }
  };
  std::thread other([&play] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(ball.load(), 2 * kRallies);
}

TEST(SchedulerTest, StatisticsCountTurnsAndTheLongestOne) {
  TickingClock clock;
  Scheduler scheduler({.clock = &clock});
  const Fiber* uneven = nullptr;  // they last as long as their scheduler
  const Fiber* parked = nullptr;
  Spawn(scheduler, "uneven", [&](Fiber& fiber) {
    uneven = &fiber;
    fiber.Yield();
    clock.Advance(5'000);
    fiber.Yield();
    clock.Advance(100);
  });
  Spawn(scheduler, "parked", [&](Fiber& fiber) {
    parked = &fiber;
    fiber.WaitUntil([] { return false; });
  });
  for (int round = 0; round < 4; ++round) {
    scheduler.RunRound();
  }
  EXPECT_EQ(uneven->stats().switches, 3u);
  EXPECT_EQ(uneven->stats().longest_run_ns, 5'010);
  EXPECT_EQ(parked->stats().switches, 1u);
  EXPECT_EQ(parked->stats().longest_run_ns, 10);
}

TEST(SchedulerTest, CancelRunsTheDestructorsOfSuspendedFibersLastSpawnedFirst) {
  Scheduler scheduler({});
  std::vector<std::string> log;
  Spawn(scheduler, "yields", [&log](Fiber& fiber) {
    const Noted outer(log, "yields: outer");
    const Noted inner(log, "yields: inner");
    fiber.Yield();
    log.push_back("never reached");
  });
  Spawn(scheduler, "waits", [&log](Fiber& fiber) {
    const Noted local(log, "waits");
    fiber.WaitUntil([] { return false; });
    log.push_back("never reached");
  });
  Spawn(scheduler, "finished", [&log](Fiber&) { const Noted local(log, "finished"); });
  scheduler.RunRound();
  Spawn(scheduler, "unborn", [&log](Fiber&) { const Noted local(log, "never reached"); });
  EXPECT_THAT(log, ElementsAre("finished"));
  scheduler.Cancel();
  EXPECT_THAT(log, ElementsAre("finished", "waits", "yields: inner", "yields: outer"));
  EXPECT_TRUE(scheduler.done());
  EXPECT_FALSE(scheduler.RunRound());
}

TEST(SchedulerTest, TheDestructorCancels) {
  std::vector<std::string> log;
  auto token = std::make_shared<int>(7);
  {
    Scheduler scheduler({});
    Spawn(scheduler, "suspended", [&log, token](Fiber& fiber) {
      const Noted local(log, "suspended");
      fiber.Yield();
    });
    Spawn(scheduler, "unborn", [token](Fiber&) {});
    scheduler.RunRound();
    Spawn(scheduler, "unborn too", [token](Fiber&) {});
  }
  EXPECT_THAT(log, ElementsAre("suspended"));
  EXPECT_EQ(token.use_count(), 1);
}

TEST(SchedulerTest, AfterCancelNewFibersRun) {
  Scheduler scheduler({});
  Spawn(scheduler, "old", [](Fiber& fiber) { fiber.WaitUntil([] { return false; }); });
  scheduler.RunRound();
  scheduler.Cancel();
  bool ran = false;
  Spawn(scheduler, "new", [&ran](Fiber& fiber) {
    fiber.Yield();
    ran = true;
  });
  while (!scheduler.done()) {
    EXPECT_TRUE(scheduler.RunRound());
  }
  EXPECT_TRUE(ran);
  EXPECT_EQ(scheduler.stacks_mapped(), 1u);
}

TEST_F(SchedulerDeathTest, SuspendingWhileBeingUnwoundEndsTheProcessWithTheFibersName) {
  class Suspends {
   public:
    explicit Suspends(Fiber& fiber) : fiber_(fiber) {}
    ~Suspends() { fiber_.Yield(); }

   private:
    Fiber& fiber_;
  };
  Scheduler scheduler({});
  bool orderly = false;
  Spawn(scheduler, "clinging", [&orderly](Fiber& fiber) {
    auto suspends = std::make_unique<Suspends>(fiber);
    fiber.WaitUntil([&orderly] { return orderly; });
  });
  scheduler.RunRound();
  EXPECT_DEATH(scheduler.Cancel(), "fiber clinging suspends while it is being unwound");
  orderly = true;
  scheduler.RunRound();
  scheduler.RunRound();
}

TEST_F(SchedulerDeathTest, SwallowingTheUnwindingEndsTheProcess) {
  Scheduler scheduler({});
  bool orderly = false;
  Spawn(scheduler, "deaf", [&orderly](Fiber& fiber) {
    try {
      fiber.WaitUntil([&orderly] { return orderly; });
    } catch (...) {  // NOLINT(bugprone-empty-catch): what a body must not do
    }
  });
  scheduler.RunRound();
  EXPECT_DEATH(scheduler.Cancel(), "");
  orderly = true;
  scheduler.RunRound();
}

TEST_F(SchedulerDeathTest, AFiberCannotDriveItsOwnScheduler) {
  Scheduler scheduler({});
  Spawn(scheduler, "recursive", [&scheduler](Fiber&) { scheduler.RunRound(); });
  EXPECT_DEATH(scheduler.RunRound(), "fiber recursive called RunRound");
  scheduler.Cancel();
  Spawn(scheduler, "suicidal", [&scheduler](Fiber&) { scheduler.Cancel(); });
  EXPECT_DEATH(scheduler.RunRound(), "fiber suicidal cancels its own scheduler");
}

TEST_F(SchedulerDeathTest, APolicyThatLeavesAFiberOutIsCaught) {
  class Unfair final : public PickPolicy {
   public:
    void Order(std::span<Fiber*> fibers) override { fibers.back() = fibers.front(); }
  };
  Unfair unfair;
  Scheduler scheduler({.pick_policy = &unfair});
  const auto forever = [](Fiber& fiber) { fiber.WaitUntil([] { return false; }); };
  Spawn(scheduler, "favourite", forever);
  Spawn(scheduler, "forgotten", forever);
  EXPECT_DEATH(scheduler.RunRound(), "the pick policy names fiber favourite twice in round 1");
}

std::vector<std::string> OrderOfTurns(std::uint64_t seed) {
  RandomPickPolicy policy(seed);
  Scheduler scheduler({.pick_policy = &policy});
  std::vector<std::string> log;
  for (const std::string name : {"a", "b", "c", "d"}) {
    Spawn(scheduler, name, [&log, name](Fiber& fiber) {
      for (int turn = 0; turn < 20; ++turn) {
        log.push_back(name);
        fiber.Yield();
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    scheduler.RunRound();
    // Nobody was left out.
    std::vector<std::string> names(log.end() - 4, log.end());
    std::ranges::sort(names);
    EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));
  }
  return log;
}

TEST(RandomPickPolicyTest, OrdersDifferByRoundAndSeedAndRepeatForASeed) {
  const std::vector<std::string> log = OrderOfTurns(1);
  EXPECT_EQ(log, OrderOfTurns(1));
  EXPECT_NE(log, OrderOfTurns(2));
  std::vector<std::string> firsts;
  for (std::size_t round = 0; round < 20; ++round) {
    firsts.push_back(log[round * 4]);
  }
  std::ranges::sort(firsts);
  EXPECT_GE(std::unique(firsts.begin(), firsts.end()) - firsts.begin(), 3);
}

TEST(RandomPickPolicyTest, AProducerAndItsConsumersFinishUnderAnyOrder) {
  constexpr int kItems = 200;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomPickPolicy policy(seed);
    Scheduler scheduler({.pick_policy = &policy});
    int queued = 0;
    int produced = 0;
    int consumed = 0;
    Spawn(scheduler, "producer", [&](Fiber& fiber) {
      while (produced < kItems) {
        fiber.WaitUntil([&] { return queued < 4; });
        ++queued;
        ++produced;
      }
    });
    for (int i = 0; i < 3; ++i) {
      Spawn(
          scheduler, "consumer",
          [&](Fiber& fiber) {
            while (true) {
              fiber.WaitUntil([&] { return queued > 0 || consumed == kItems; });
              if (consumed == kItems) {
                return;
              }
              ASSERT_GT(queued, 0) << "seed " << seed;
              --queued;
              ++consumed;
            }
          },
          FiberKind::kRdma);
    }
    int rounds = 0;
    while (!scheduler.done()) {
      ASSERT_TRUE(scheduler.RunRound()) << "seed " << seed << ": all parked at round " << rounds;
      ASSERT_LT(++rounds, 10'000) << "seed " << seed;
    }
    EXPECT_EQ(consumed, kItems) << "seed " << seed;
  }
}

}  // namespace
}  // namespace glaive::engine
