#include "queries/cm/generator.h"

#include <array>
#include <cstddef>

#include "queries/common/random.h"

namespace glaive::queries::cm {
namespace {

constexpr std::uint64_t kMachines = 12'500;
constexpr std::uint64_t kUsers = 930;
constexpr std::uint64_t kTasksOfAJob = 1'000;

/// Numbers with cumulative shares, of 1000.
template <typename T, std::size_t kCount>
struct Shares {
  T Draw(std::uint64_t random) const {
    const std::uint64_t drawn = Below(1000, random);
    std::size_t i = 0;
    while (i + 1 < kCount && drawn >= ends[i]) {
      ++i;
    }
    return values[i];
  }

  std::array<T, kCount> values;
  std::array<std::uint64_t, kCount> ends;
};

constexpr Shares<TaskEventType, 8> kEventTypes = {
    .values = {TaskEventType::kSubmit, TaskEventType::kSchedule, TaskEventType::kFinish, TaskEventType::kKill,
               TaskEventType::kFail, TaskEventType::kEvict, TaskEventType::kUpdateRunning, TaskEventType::kLost},
    .ends = {335, 665, 790, 865, 960, 995, 999, 1000}};
constexpr Shares<std::int32_t, 4> kSchedulingClasses = {.values = {0, 1, 2, 3}, .ends = {600, 800, 970, 1000}};
constexpr Shares<std::int32_t, 6> kPriorities = {.values = {0, 4, 2, 9, 1, 11},
                                                 .ends = {450, 780, 850, 950, 995, 1000}};

float Request(std::uint64_t random) {
  const std::uint64_t uniform = random >> 56;  // of 256
  const std::uint64_t units = uniform * uniform / 4;
  return static_cast<float>(units) / 65536;
}

}  // namespace

TaskEvent TaskEventGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const std::uint64_t job = keys().Draw(draw(0));
  const TaskEventType type = kEventTypes.Draw(draw(1));
  const std::uint64_t requests = draw(2);
  return {.timestamp_us = event_time_ms * 1000,
          .job_id = static_cast<std::int64_t>(job),
          .task_index = static_cast<std::int64_t>(Below(kTasksOfAJob, draw(3))),
          .machine_id = type == TaskEventType::kSubmit ? 0 : 1 + static_cast<std::int64_t>(Below(kMachines, draw(4))),
          .event_type = type,
          .user = static_cast<std::int32_t>(Below(kUsers, Mix(job))),
          .category = kSchedulingClasses.Draw(draw(5)),
          .priority = kPriorities.Draw(Mix(draw(5))),
          .cpu = Request(requests),
          .ram = Request(requests << 8),
          .disk = Request(requests << 16),
          .constraint = (requests & 0xff) == 0 ? 1 : 0};
}

}  // namespace glaive::queries::cm
