// TaskEvent: one row of the table task_events of Google's cluster trace of 2011, as 64 packed bytes.
//
// Plain data, little-endian: an array of events has no gaps and is read in place. What a row leaves empty is 0.
//
//   offset  bytes  field
//        0      8  timestamp_us  i64, microseconds; the trace begins at 600 s, 0 stands for any time before it
//        8      8  job_id        i64
//       16      8  task_index    i64, within the job
//       24      8  machine_id    i64; 0: not placed on a machine
//       32      4  event_type    i32, TaskEventType
//       36      4  user          i32, a hash of the user's name; 0: not known
//       40      4  category      i32, the scheduling class: 0 (batch) to 3 (latency-sensitive)
//       44      4  priority      i32, larger is more important
//       48      4  cpu           f32, what the task asks for; 1 is the most of any machine, as in the next two
//       52      4  ram           f32
//       56      4  disk          f32
//       60      4  constraint    i32, 1: must not share a machine with another task of its job
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::queries::cm {

enum class TaskEventType : std::int32_t {
  kSubmit = 0,
  kSchedule = 1,
  kEvict = 2,
  kFail = 3,
  kFinish = 4,
  kKill = 5,
  kLost = 6,
  kUpdatePending = 7,
  kUpdateRunning = 8,
};
inline constexpr std::int32_t kTaskEventTypes = 9;

/// See the byte table above.
struct TaskEvent {
  std::int64_t timestamp_us;
  std::int64_t job_id;
  std::int64_t task_index;
  std::int64_t machine_id;
  TaskEventType event_type;
  std::int32_t user;
  std::int32_t category;
  std::int32_t priority;
  float cpu;
  float ram;
  float disk;
  std::int32_t constraint;

  bool operator==(const TaskEvent&) const = default;
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(TaskEvent) == 64 && alignof(TaskEvent) == 8);
static_assert(std::is_trivially_copyable_v<TaskEvent> && std::is_standard_layout_v<TaskEvent>);
static_assert(offsetof(TaskEvent, timestamp_us) == 0 && offsetof(TaskEvent, job_id) == 8);
static_assert(offsetof(TaskEvent, task_index) == 16 && offsetof(TaskEvent, machine_id) == 24);
static_assert(offsetof(TaskEvent, event_type) == 32 && offsetof(TaskEvent, user) == 36);
static_assert(offsetof(TaskEvent, category) == 40 && offsetof(TaskEvent, priority) == 44);
static_assert(offsetof(TaskEvent, cpu) == 48 && offsetof(TaskEvent, ram) == 52);
static_assert(offsetof(TaskEvent, disk) == 56 && offsetof(TaskEvent, constraint) == 60);

/// Event time: milliseconds on the trace's own scale, rounded down.
struct TaskEventTime {
  std::int64_t operator()(const TaskEvent& event) const { return event.timestamp_us / 1000; }
};

}  // namespace glaive::queries::cm
