// The edge between a producer and its consumers: who is called, and which breaches of the contract are noticed.
#include "engine/graph/output.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "engine/fiber/scheduler.h"

namespace glaive::engine {
namespace {

using testing::ElementsAre;

class Recorder final : public Consumer<int> {
 public:
  explicit Recorder(std::vector<std::string>& calls, std::string name = "") : calls_(&calls), name_(std::move(name)) {}

  void Take(Fiber& fiber, const Batch<int>& batch) override {
    Note(absl::StrCat("take ", batch.records.size()));
    if (yields) {
      fiber.Yield();
    }
  }
  void On(Fiber& /*fiber*/, const Control& control) override {
    constexpr const char* kNames[] = {"watermark", "idle", "active", "end"};
    Note(kNames[control.index()]);
  }
  void Flush(Fiber& /*fiber*/) override { Note("flush"); }
  bool WantsTurn(const Turn& turn) const override { return turn.now_ns >= wants_turn_from_ns; }
  void Attend(Fiber& /*fiber*/, const Turn& /*turn*/) override { Note("attend"); }
  bool LeadsTooFar(std::int64_t /*ahead_ms*/) const override { return leads; }
  std::optional<std::int64_t> watermark_ms() const override { return reached_ms; }

  bool yields = false;
  bool leads = false;
  std::int64_t wants_turn_from_ns = 100;
  std::optional<std::int64_t> reached_ms;

 private:
  void Note(const std::string& call) { calls_->push_back(name_ + call); }

  std::vector<std::string>* calls_;
  std::string name_;
};

constexpr int kRecords[] = {1, 2, 3};
constexpr Batch<int> kBatch{.records = kRecords};

class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    output_.Add(first_);
    output_.Add(second_);
  }

  /// Runs `body(fiber)` to its end.
  template <typename BodyFn>
  static void InFiber(const BodyFn& body) {
    Scheduler scheduler{{}};
    EXPECT_TRUE(scheduler.Spawn("producer", FiberKind::kCompute, body).ok());
    scheduler.RunRound();
    EXPECT_TRUE(scheduler.done());
  }

  std::vector<std::string> calls_;
  Recorder first_{calls_, "1: "};
  Recorder second_{calls_, "2: "};
  Output<int> output_;
};

TEST_F(OutputTest, AllConsumersAreCalledInTheirOrder) {
  InFiber([&](Fiber& fiber) {
    output_.Emit(fiber, kBatch);
    output_.Emit(fiber, Watermark{.time_ms = 7});
    output_.Flush(fiber);
    output_.Emit(fiber, EndOfStream{});
  });
  EXPECT_THAT(calls_, ElementsAre("1: take 3", "2: take 3", "1: watermark", "2: watermark", "1: flush", "2: flush",
                                  "1: end", "2: end"));
}

TEST_F(OutputTest, OnlyConsumersThatWantATurnGetOne) {
  second_.wants_turn_from_ns = 50;
  EXPECT_FALSE(output_.WantsTurn({.now_ns = 49}));
  EXPECT_TRUE(output_.WantsTurn({.now_ns = 50}));
  InFiber([&](Fiber& fiber) { output_.Attend(fiber, {.now_ns = 50}); });
  EXPECT_THAT(calls_, ElementsAre("2: attend"));
}

TEST_F(OutputTest, OneConsumerThatLeadsIsEnough) {
  EXPECT_FALSE(output_.LeadsTooFar());
  second_.leads = true;
  EXPECT_TRUE(output_.LeadsTooFar());
}

TEST_F(OutputTest, TheConsumerThatIsFurthestBehindCountsAmongThoseThatCompareStreams) {
  EXPECT_EQ(output_.least_watermark_ms(), std::nullopt);
  first_.reached_ms = 5;
  EXPECT_EQ(output_.least_watermark_ms(), 5);
  second_.reached_ms = 4;
  EXPECT_EQ(output_.least_watermark_ms(), 4);
  first_.reached_ms = std::nullopt;
  EXPECT_EQ(output_.least_watermark_ms(), 4);
}

TEST_F(OutputTest, ItRemembersWatermarkAndIdleness) {
  InFiber([&](Fiber& fiber) {
    output_.Emit(fiber, Watermark{.time_ms = 7});
    output_.Emit(fiber, Idle{});
  });
  EXPECT_EQ(output_.watermark_ms(), 7);
  EXPECT_TRUE(output_.idle());
  InFiber([&](Fiber& fiber) { output_.Emit(fiber, Active{}); });
  EXPECT_FALSE(output_.idle());
}

/// As ReexecutedDeathTest, whose reason is that of fibers.
class OutputDeathTest : public OutputTest {
 protected:
  OutputDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// What a fiber emits one after the other, of which the last breaks the contract.
struct Breach {
  const char* name;
  std::vector<std::variant<Batch<int>, Control>> emitted;
  const char* message;
};

TEST_F(OutputDeathTest, BreachesOfTheContractAreDefects) {
  const std::vector<Breach> breaches = {
      {"records behind the end", {Control(EndOfStream{}), kBatch}, "records behind the end of the stream"},
      {"a control behind the end", {Control(EndOfStream{}), Control(Idle{})}, "a control behind the end of the stream"},
      {"a second end", {Control(EndOfStream{}), Control(EndOfStream{})}, "a control behind the end of the stream"},
      {"records while idle", {Control(Idle{}), kBatch}, "records behind an Idle"},
      {"a watermark while idle", {Control(Idle{}), Control(Watermark{.time_ms = 1})}, "a watermark behind an Idle"},
      {"a second idle", {Control(Idle{}), Control(Idle{})}, "a second Idle"},
      {"active without idle", {Control(Active{})}, "a second Active"},
      {"a watermark that stays",
       {Control(Watermark{.time_ms = 5}), Control(Watermark{.time_ms = 5})},
       "the watermark goes from 5 to 5"},
      {"a watermark that goes back",
       {Control(Watermark{.time_ms = 5}), Control(Watermark{.time_ms = 4})},
       "the watermark goes from 5 to 4"},
      {"a watermark that is an end", {Control(Watermark{.time_ms = kMaxEventTimeMs})}, "the watermark goes from"}};
  for (const Breach& breach : breaches) {
    SCOPED_TRACE(breach.name);
    EXPECT_DEATH(InFiber([&](Fiber& fiber) {
                   for (const auto& each : breach.emitted) {
                     std::visit([&](const auto& emitted) { output_.Emit(fiber, emitted); }, each);
                   }
                 }),
                 breach.message);
  }
}

TEST_F(OutputTest, TheStreamOfAnIdleProducerMayEnd) {
  InFiber([&](Fiber& fiber) {
    output_.Emit(fiber, Idle{});
    output_.Emit(fiber, EndOfStream{});
  });
  EXPECT_THAT(calls_, ElementsAre("1: idle", "2: idle", "1: end", "2: end"));
}

TEST_F(OutputDeathTest, ACallDuringAnotherIsADefect) {
  first_.yields = true;
  EXPECT_DEATH(
      {
        Scheduler scheduler{{}};
        for (const char* name : {"one", "other"}) {
          (void)scheduler.Spawn(name, FiberKind::kCompute, [&](Fiber& fiber) { output_.Emit(fiber, kBatch); });
        }
        scheduler.RunRound();
      },
      "a call of an output begins during another");
}

}  // namespace
}  // namespace glaive::engine
