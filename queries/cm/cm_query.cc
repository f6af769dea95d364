#include "queries/cm/cm_query.h"

#include <cstdint>
#include <utility>

#include "engine/api/stream.h"

namespace glaive::queries::cm {
namespace {

/// A task's request for processors, and what it is summed up by.
struct CpuRequest {
  std::uint64_t key;
  std::int64_t timestamp_us;
  std::int64_t task;
  std::int64_t machine;
  float cpu;
};

}  // namespace

std::unique_ptr<engine::Query> BuildCm(const CmOptions& options,
                                       const engine::SourceSpec<TaskEvent, TaskEventTime>& events,
                                       const ResultSinks& sinks) {
  const auto by_job = [](const TaskEvent& event) {
    return CpuRequest{static_cast<std::uint64_t>(event.job_id), event.timestamp_us, event.task_index, event.machine_id,
                      event.cpu};
  };
  const auto by_class = [](const TaskEvent& event) {
    return CpuRequest{static_cast<std::uint64_t>(event.category), event.timestamp_us, event.task_index,
                      event.machine_id, event.cpu};
  };
  const auto key = [](const CpuRequest& request) { return request.key; };
  const auto cpu = [](const CpuRequest& request) { return request.cpu; };
  const auto failed = [](const TaskEvent& event) { return event.event_type == TaskEventType::kFail; };
  const auto sum = [&](auto requests) {
    return std::move(requests)
        .KeyBy(key)
        .Window(engine::Sliding{options.window, options.slide})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(engine::Sum{cpu})
        .To(sinks);
  };
  const auto tumbling = [&](auto aggregate) {
    return engine::From(events)
        .Map(by_job)
        .KeyBy(key)
        .Window(engine::Tumbling{options.window})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(aggregate)
        .To(sinks);
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
          engine::Count{}, engine::Sum{cpu}, engine::Min{cpu}, engine::Max{cpu}, engine::Mean{cpu},
          engine::Variance{cpu}, engine::First{&CpuRequest::timestamp_us, &CpuRequest::task},
          engine::Last{&CpuRequest::timestamp_us, &CpuRequest::task}, engine::TopK<3>(&CpuRequest::task)});
    case Profile::kSlash:
      break;
  }
  return tumbling(engine::Mean{cpu});
}

}  // namespace glaive::queries::cm
