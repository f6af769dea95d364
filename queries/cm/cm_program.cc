#include "queries/cm/cm_program.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "queries/cm/accounts.h"
#include "queries/cm/cpu_mean_fold.h"
#include "queries/cm/generator.h"
#include "queries/cm/sliding_loop.h"
#include "queries/cm/task_event_csv.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"

namespace glaive::queries::cm {
namespace {

std::optional<std::uint64_t> JobOf(const TaskEvent& event) { return static_cast<std::uint64_t>(event.job_id); }

}  // namespace

std::string CmProgram::summary() const {
  return "Cluster monitoring: CPU requests in task events of 64 bytes, with the Google cluster trace's schema and "
         "shape.\n"
         "  --profile=slash: mean per job, 2 s   --profile=cm1: sum per scheduling class, 60 s every 1 s\n"
         "  --profile=cm2: sum per job of failed tasks, 60 s every 1 s\n"
         "  --profile=machines: distinct machines per job, 2 s\n"
         "  --profile=all: count, sum, min, max, mean, variance, first, last and top 3 per job, 2 s";
}

void CmProgram::SetDefaults(InputFlags& input) const {
  input.keys = 10'000;
  input.key_distribution = "zipf:0.9";
}

void CmProgram::RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) {
  flags.AddChoice({.name = "profile", .group = group, .help = "which form of the query"}, profile_,
                  {{"slash", Profile::kSlash},
                   {"cm1", Profile::kCm1},
                   {"cm2", Profile::kCm2},
                   {"machines", Profile::kMachines},
                   {"all", Profile::kAll}});
  AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window; 0: the profile's"}, window_,
                /*least=*/absl::ZeroDuration());
  AddWindowFlag(flags, {.name = "slide", .group = group, .help = "time between two windows' starts; 0: the profile's"},
                slide_, /*least=*/absl::ZeroDuration());
  flags.AddCheck([this]() -> absl::Status {
    if (tumbling() && slide_ != absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          "--slide: the windows of --profile=slash, machines and all are tumbling; leave it out");
    }
    return tumbling() ? absl::OkStatus()
                      : CheckSliding(absl::Milliseconds(shape().window_ms), absl::Milliseconds(shape().slide_ms));
  });
}

CmProgram::Shape CmProgram::shape() const {
  Shape shape{.window_ms = tumbling() ? 2'000 : 60'000, .slide_ms = tumbling() ? 0 : 1'000};
  if (window_ != absl::ZeroDuration()) {
    shape.window_ms = absl::ToInt64Milliseconds(window_);
  }
  if (slide_ != absl::ZeroDuration()) {
    shape.slide_ms = absl::ToInt64Milliseconds(slide_);
  }
  // An event makes a row in each window over it at most; one in ten is of a failed task.
  const std::int64_t windows = tumbling() ? 1 : shape.window_ms / shape.slide_ms + 1;
  shape.rows_a_record = static_cast<double>(windows) * (profile_ == Profile::kCm2 ? 0.15 : 1);
  return shape;
}

std::unique_ptr<Generator<TaskEvent>> CmProgram::MakeGenerator(const InputOptions& input) const {
  return std::make_unique<TaskEventGenerator>(input);
}

std::unique_ptr<engine::Query> CmProgram::BuildQuery(const Events& events, const ResultSinks& sinks) const {
  return BuildCm({.profile = profile_,
                  .window = absl::Milliseconds(shape().window_ms),
                  .slide = absl::Milliseconds(shape().slide_ms),
                  .allowed_lateness = allowed_lateness()},
                 events, sinks);
}

absl::Status CmProgram::CheckLoop() const {
  if (profile_ != Profile::kSlash && profile_ != Profile::kCm1) {
    return absl::InvalidArgumentError("--engine=loop goes with --profile=slash and --profile=cm1");
  }
  return tumbling() || shape().window_ms % shape().slide_ms == 0
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--engine=loop adds slices as long as a slide: --window must be a multiple of --slide");
}

std::unique_ptr<engine::Query> CmProgram::BuildLoop(const Events& events, std::uint64_t keys,
                                                    const ResultSinks& sinks) const {
  if (profile_ == Profile::kCm1) {
    const SlidingLoopOptions options{.window_ms = shape().window_ms, .slide_ms = shape().slide_ms};
    return LoopQueryOver(
        events, /*loop_bytes=*/0, [=] { return absl::StatusOr<SlidingLoop>(SlidingLoop(options)); }, sinks);
  }
  using Loop = WindowLoop<CpuMeanFold>;
  const WindowLoopOptions options{.window_ms = shape().window_ms, .keys = keys};
  return LoopQueryOver(events, Loop::MemoryBytes(keys), [=] { return Loop::Create({}, options); }, sinks);
}

Verdict CmProgram::Recompute(const Recomputation<TaskEvent>& run) const {
  switch (profile_) {
    case Profile::kCm1:
      return run.As<CpuSum>(
          [](const TaskEvent& event) { return std::optional(static_cast<std::uint64_t>(event.category)); });
    case Profile::kCm2:
      return run.As<CpuSum>([](const TaskEvent& event) -> std::optional<std::uint64_t> {
        return event.event_type == TaskEventType::kFail ? JobOf(event) : std::nullopt;
      });
    case Profile::kMachines:
      return run.As<MachineCount>(JobOf);
    case Profile::kAll:
      return run.As<CpuEverything>(JobOf);
    case Profile::kSlash:
      break;
  }
  return run.As<CpuMean>(JobOf);
}

std::string CmProgram::column_names() const {
  return "timestamp_us,job_id,task_index,machine_id,event_type,category,priority,cpu";
}

void CmProgram::AppendColumns(std::string& line, const TaskEvent& event) const {
  absl::StrAppend(&line, event.timestamp_us, ",", event.job_id, ",", event.task_index, ",", event.machine_id, ",");
  absl::StrAppend(&line, static_cast<int>(event.event_type), ",", event.category, ",", event.priority, ",");
  absl::StrAppendFormat(&line, "%.17g", double{event.cpu});
}

CmProgram::Events CmProgram::ReadFiles(const std::vector<engine::ListedFile>& files,
                                       const engine::LineSourceOptions& options) const {
  return engine::Lines<TaskEvent>(files, ParseTaskEvent{}, TaskEventTime{}, options);
}

}  // namespace glaive::queries::cm
