#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "queries/cm/generator.h"
#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::cm {
namespace {

constexpr std::uint64_t kEvents = 100'000;
constexpr std::uint64_t kJobs = 1'000;

std::unique_ptr<Generator<TaskEvent>> MakeEvents(const InputOptions& input) {
  return std::make_unique<TaskEventGenerator>(input);
}

std::vector<TaskEvent> SomeEvents() {
  return FirstRecords<TaskEvent>(TaskEventGenerator({.seed = 3, .keys = {.count = kJobs}}), kEvents);
}

template <typename Field>
void ExpectShares(Field TaskEvent::* field, const std::map<Field, double>& shares, const std::string& what) {
  std::map<Field, std::uint64_t> events;
  for (const TaskEvent& event : SomeEvents()) {
    ++events[event.*field];
  }
  EXPECT_EQ(events.size(), shares.size()) << what;
  double sum = 0;
  for (const auto& [value, share] : shares) {
    ExpectShare(events[value], kEvents, share, what + " " + std::to_string(static_cast<int>(value)));
    sum += share;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(TaskEventGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = kJobs, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 0.9}}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<TaskEvent>(TaskEventGenerator(input));
}

TEST(TaskEventGeneratorTest, SeedsAndExecutorsDrawDifferentEvents) {
  ExpectSeedsAndExecutorsDrawDifferentRecords<TaskEvent>(MakeEvents);
}

TEST(TaskEventGeneratorTest, EventTimesAreTheTimelines) {
  ExpectEventTimesOfTheTimeline<TaskEvent>(MakeEvents, TaskEventTime{});
}

TEST(TaskEventGeneratorTest, JobsFollowTheOptionsKeys) {
  const KeyLaw law{.kind = KeyLaw::Kind::kZipf, .parameter = 1};
  std::map<std::int64_t, std::uint64_t> events;
  for (const TaskEvent& event :
       FirstRecords<TaskEvent>(TaskEventGenerator({.keys = {.count = 3, .law = law}}), kEvents)) {
    ++events[event.job_id];
  }
  ASSERT_EQ(events.size(), 3U);
  for (const std::int64_t job : {1, 2, 3}) {
    ExpectShare(events[job], kEvents, 6.0 / 11 / static_cast<double>(job), "job " + std::to_string(job));
  }
}

TEST(TaskEventGeneratorTest, EventTypesHaveTheirShares) {
  ExpectShares(&TaskEvent::event_type,
               {{TaskEventType::kSubmit, 0.335},
                {TaskEventType::kSchedule, 0.33},
                {TaskEventType::kFinish, 0.125},
                {TaskEventType::kFail, 0.095},
                {TaskEventType::kKill, 0.075},
                {TaskEventType::kEvict, 0.035},
                {TaskEventType::kUpdateRunning, 0.004},
                {TaskEventType::kLost, 0.001}},
               "event type");
}

TEST(TaskEventGeneratorTest, ClassesAndPrioritiesHaveTheirShares) {
  ExpectShares(&TaskEvent::category, {{0, 0.6}, {1, 0.2}, {2, 0.17}, {3, 0.03}}, "class");
  ExpectShares(&TaskEvent::priority, {{0, 0.45}, {1, 0.045}, {2, 0.07}, {4, 0.33}, {9, 0.1}, {11, 0.005}}, "priority");
}

TEST(TaskEventGeneratorTest, FieldsAreWithinTheirDomains) {
  std::map<std::int64_t, std::int32_t> users;  // by job
  for (const TaskEvent& event : SomeEvents()) {
    ASSERT_GE(event.job_id, 1);
    ASSERT_LE(event.job_id, static_cast<std::int64_t>(kJobs));
    ASSERT_GE(event.task_index, 0);
    ASSERT_LT(event.task_index, 1'000);
    if (event.event_type == TaskEventType::kSubmit) {
      ASSERT_EQ(event.machine_id, 0) << "a task that is only submitted is on no machine";
    } else {
      ASSERT_GE(event.machine_id, 1);
      ASSERT_LE(event.machine_id, 12'500);
    }
    ASSERT_GE(event.user, 0);
    ASSERT_LT(event.user, 930);
    ASSERT_EQ(users.emplace(event.job_id, event.user).first->second, event.user) << "a job is of one user";
    ASSERT_TRUE(event.constraint == 0 || event.constraint == 1);
  }
}

TEST(TaskEventGeneratorTest, RequestsAreMultiplesOf2ToTheMinus16BelowAQuarterAndMostlySmall) {
  for (float TaskEvent::* const request : {&TaskEvent::cpu, &TaskEvent::ram, &TaskEvent::disk}) {
    std::uint64_t below_a_sixteenth = 0;
    float most = 0;
    for (const TaskEvent& event : SomeEvents()) {
      const float value = event.*request;
      ASSERT_GE(value, 0);
      ASSERT_LT(value, 0.25F);
      ASSERT_EQ(value * 65536, std::floor(value * 65536)) << value;
      below_a_sixteenth += value < 0.0625F ? 1 : 0;
      most = std::max(most, value);
    }
    ExpectShare(below_a_sixteenth, kEvents, 0.5, "half of a uniform number, squared");
    EXPECT_GT(most, 0.24F);
  }
}

TEST(TaskEventGeneratorTest, TheThreeRequestsOfATaskAreDrawnIndependently) {
  std::map<int, std::uint64_t> halves;
  for (const TaskEvent& event : SomeEvents()) {
    ++halves[(event.cpu < 0.0625F ? 4 : 0) + (event.ram < 0.0625F ? 2 : 0) + (event.disk < 0.0625F ? 1 : 0)];
  }
  for (int half = 0; half < 8; ++half) {
    ExpectShare(halves[half], kEvents, 1.0 / 8, "halves " + std::to_string(half));
  }
}

}  // namespace
}  // namespace glaive::queries::cm
