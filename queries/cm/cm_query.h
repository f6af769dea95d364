// Cluster monitoring over the Google cluster trace's task events, in the three forms that the literature runs.
//
//   slash  SELECT job_id, AVG(cpu) FROM events GROUP BY job_id, TUMBLE(event_time, 2 s)
//   cm1    SELECT category, SUM(cpu) FROM events GROUP BY category, HOP(event_time, 1 s, 60 s)
//   cm2    SELECT job_id, SUM(cpu) FROM events WHERE event_type = 3 GROUP BY job_id, HOP(event_time, 1 s, 60 s)
//   machines  SELECT job_id, COUNT(DISTINCT machine_id) FROM events GROUP BY job_id, TUMBLE(event_time, 2 s)
//   all    every other aggregate there is, of a job's CPU requests and task numbers, in one pass; the windows of slash
//
// slash is the Slash paper's (section 8.1.2); cm1 and cm2 are LightSaber's (Theodorakis et al., SIGMOD 2020).
#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/cm/task_event.h"

namespace glaive::queries::cm {

enum class Profile : std::uint8_t { kSlash, kCm1, kCm2, kMachines, kAll };

struct CmOptions {
  Profile profile = Profile::kSlash;
  absl::Duration window = absl::Seconds(2);
  absl::Duration slide = absl::Seconds(2);
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// A task's request for processors, and what it is summed up by.
struct CpuRequest {
  std::uint64_t key;
  std::int64_t timestamp_us;
  std::int64_t task;
  std::int64_t machine;
  float cpu;
};

template <typename Events, typename Sink>
std::unique_ptr<engine::Query> BuildCm(const CmOptions& options, const Events& events, const Sink& sink) {
  const auto by_job = [](const TaskEvent& event) {
    return CpuRequest{static_cast<std::uint64_t>(event.job_id), event.timestamp_us, event.task_index, event.machine_id,
                      event.cpu};
  };
  const auto by_class = [](const TaskEvent& event) {
    return CpuRequest{static_cast<std::uint64_t>(event.category), event.timestamp_us, event.task_index,
                      event.machine_id, event.cpu};
  };
  const auto failed = [](const TaskEvent& event) { return event.event_type == TaskEventType::kFail; };
  const auto sum = [&](auto requests) {
    return std::move(requests)
        .KeyBy(&CpuRequest::key)
        .Window(engine::Sliding{options.window, options.slide})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(engine::Sum{&CpuRequest::cpu})
        .To(sink);
  };
  const auto tumbling = [&](auto aggregate) {
    return engine::From(events)
        .Map(by_job)
        .KeyBy(&CpuRequest::key)
        .Window(engine::Tumbling{options.window})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(aggregate)
        .To(sink);
  };
  switch (options.profile) {
    case Profile::kCm1:
      return sum(engine::From(events).Map(by_class));
    case Profile::kCm2:
      return sum(engine::From(events).Filter(failed).Map(by_job));
    case Profile::kMachines:
      return tumbling(engine::Distinct{&CpuRequest::machine});
    case Profile::kAll:
      return tumbling(engine::Several{
          engine::Count{}, engine::Sum{&CpuRequest::cpu}, engine::Min{&CpuRequest::cpu}, engine::Max{&CpuRequest::cpu},
          engine::Mean{&CpuRequest::cpu}, engine::Variance{&CpuRequest::cpu},
          engine::First{&CpuRequest::timestamp_us, &CpuRequest::task},
          engine::Last{&CpuRequest::timestamp_us, &CpuRequest::task}, engine::TopK<3>(&CpuRequest::task)});
    case Profile::kSlash:
      break;
  }
  return tumbling(engine::Mean{&CpuRequest::cpu});
}

}  // namespace glaive::queries::cm
