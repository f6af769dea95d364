// What the trigger of a stage tells those who take in its results, and in which order: rounds of one fiber over flows
// that the test moves by hand.
#include "engine/stage/window_trigger.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using testing::ElementsAre;

struct CountRow {
  std::int64_t window_start_ms = 0;
  std::int64_t window_end_ms = 0;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
};

struct CountPlan {
  using Row = CountRow;
  using Window = Tumbling;
  using GroupKey = std::uint64_t;
  using Result = std::uint64_t;
  static constexpr std::size_t kRowWork = 1024;
};

/// A store whose windows have no records.
struct EmptyStore {
  struct Partition {
    const std::pair<const state::SliceId, int>* Oldest() const { return nullptr; }
    void DropBefore(state::SliceId /*slice*/) {}
  };
  Partition& primary() { return partition; }
  const Partition& primary() const { return partition; }

  Partition partition;
};

class NoResults {
 public:
  NoResults(TaskContext& /*context*/, const Windows& /*windows*/, EmptyStore& /*store*/) {}

  bool has_more(std::int64_t /*fired*/) const { return false; }
  template <typename Emit>
  absl::Status Fire(Fiber& /*fiber*/, std::int64_t /*window*/, const Emit& /*emit*/) {
    return absl::OkStatus();
  }
  std::uint64_t merges() const { return 0; }
};

class UnnamedStage final : public DescribedState {
 public:
  std::string Describe() const override { return "a stage of a test"; }
};

class StoppedClock final : public Clock {
 public:
  std::int64_t NowNanos() const override { return 1; }
};

/// Writes down what it is told.
class Listener final : public Consumer<CountRow> {
 public:
  void Take(Fiber& /*fiber*/, const Batch<CountRow>& batch) override {
    told_.push_back(absl::StrCat(batch.records.size(), " rows"));
  }
  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      told_.push_back(absl::StrCat("until ", watermark->time_ms));
      if (waits_) {
        fiber.Yield();
      }
    }
    if (std::holds_alternative<Idle>(control)) {
      told_.emplace_back("idle");
    }
    if (std::holds_alternative<Active>(control)) {
      told_.emplace_back("active");
    }
    if (std::holds_alternative<EndOfStream>(control)) {
      told_.emplace_back("end");
    }
  }

  /// From now on it gives up its turn when it takes a watermark in.
  void Wait() { waits_ = true; }
  std::vector<std::string> TakeTold() { return std::exchange(told_, {}); }

 private:
  bool waits_ = false;
  std::vector<std::string> told_;
};

class WindowTriggerTest : public testing::Test {
 protected:
  WindowTriggerTest() {
    context_.clock = &clock_;
    context_.metrics = &metrics_;
    context_.rows_per_turn = 4096;
    output_.Add(listener_);
    EXPECT_TRUE(trigger_.Spawn(scheduler_).ok());
    scheduler_.RunRound();  // it begins to wait
  }

  /// The flow has come to `watermark_ms`.
  void Read(std::int64_t watermark_ms) {
    progress_.SetIdle(0, false);
    progress_.Advance(0, watermark_ms, 1);
  }
  void FallIdle() { progress_.SetIdle(0, true); }
  std::vector<std::string> RunRound() {
    scheduler_.RunRound();
    return listener_.TakeTold();
  }

  Listener listener_;

 private:
  StoppedClock clock_;
  ExecutorMetrics metrics_;
  TaskContext context_;
  UnnamedStage stage_;
  EmptyStore store_;
  Windows windows_{Tumbling{absl::Milliseconds(10)}};
  StageProgress progress_{windows_, 1};
  Output<CountRow> output_;
  WindowTrigger<CountPlan, NoResults, EmptyStore> trigger_{
      context_, /*reaches_sink=*/true, windows_, progress_, output_, stage_, store_};
  Scheduler scheduler_{{}};
};

TEST_F(WindowTriggerTest, TheWatermarkOfCompleteWindowsIsPassedOn) {
  EXPECT_THAT(RunRound(), ElementsAre());
  Read(25);
  EXPECT_THAT(RunRound(), ElementsAre("until 25"));
  Read(26);
  EXPECT_THAT(RunRound(), ElementsAre()) << "no window was completed";
  Read(kMaxEventTimeMs);
  EXPECT_THAT(RunRound(), ElementsAre("end"));
}

TEST_F(WindowTriggerTest, IdlenessIsToldBehindAWatermarkThatIsLearnedTogetherWithIt) {
  Read(25);
  FallIdle();
  EXPECT_THAT(RunRound(), ElementsAre("until 25", "idle"));
  EXPECT_THAT(RunRound(), ElementsAre()) << "nothing is new";
}

TEST_F(WindowTriggerTest, TheEndOfIdlenessIsToldBeforeAWindowIsComplete) {
  Read(25);
  FallIdle();
  EXPECT_THAT(RunRound(), ElementsAre("until 25", "idle"));
  Read(26);
  EXPECT_THAT(RunRound(), ElementsAre("active", "until 26"));
}

TEST_F(WindowTriggerTest, IdlenessIsToldAgainWhenAFlowWokeAndFellIdleBetweenTwoRounds) {
  Read(25);
  FallIdle();
  EXPECT_THAT(RunRound(), ElementsAre("until 25", "idle"));
  Read(35);
  FallIdle();
  EXPECT_THAT(RunRound(), ElementsAre("active", "until 35", "idle"));
}

TEST_F(WindowTriggerTest, IdlenessIsToldOnlyOnceTheLatestWatermarkIsPassedOn) {
  listener_.Wait();
  Read(25);
  EXPECT_THAT(RunRound(), ElementsAre("until 25"));
  Read(35);
  FallIdle();
  EXPECT_THAT(RunRound(), ElementsAre()) << "it has not read the flow again";
  EXPECT_THAT(RunRound(), ElementsAre("until 35"));
  EXPECT_THAT(RunRound(), ElementsAre("idle"));
}

}  // namespace
}  // namespace glaive::engine
