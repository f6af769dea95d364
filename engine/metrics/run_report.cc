#include "engine/metrics/run_report.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/metrics/build_info.h"
#include "engine/metrics/counter_fields.h"

namespace glaive::engine {
namespace {

constexpr double kNanosPerMilli = 1e6;
constexpr double kBytesPerGigabyte = 1e9;

double SecondsBetween(std::int64_t begin_ns, std::int64_t end_ns) {
  constexpr double kNanosPerSecond = 1e9;
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / kNanosPerSecond : 0;
}

double Rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

ExecutorReport ReportOf(const ExecutorMetrics& metrics, std::uint32_t node) {
  ExecutorReport report{.executor = metrics.executor, .node = node, .counters = metrics};
  report.seconds = SecondsBetween(metrics.first_batch_ns, metrics.last_result_ns);
  report.records_per_second = Rate(static_cast<double>(metrics.records), report.seconds);
  report.gigabytes_per_second = Rate(static_cast<double>(metrics.input_bytes) / kBytesPerGigabyte, report.seconds);
  return report;
}

// How long the whole run took. Without a common clock the longest executor stands for it.
double RunSeconds(const std::vector<ExecutorReport>& executors, bool one_clock) {
  if (executors.empty()) {
    return 0;
  }
  if (!one_clock) {
    return std::max_element(executors.begin(), executors.end(),
                            [](const auto& left, const auto& right) { return left.seconds < right.seconds; })
        ->seconds;
  }
  std::int64_t begin_ns = executors.front().counters.first_batch_ns;
  std::int64_t end_ns = executors.front().counters.last_result_ns;
  for (const ExecutorReport& executor : executors) {
    begin_ns = std::min(begin_ns, executor.counters.first_batch_ns);
    end_ns = std::max(end_ns, executor.counters.last_result_ns);
  }
  return SecondsBetween(begin_ns, end_ns);
}

Latency LatencyOf(const std::vector<ExecutorReport>& executors, LatencyHistogram ExecutorMetrics::* which,
                  bool one_clock) {
  Latency latency;
  if (!one_clock) {
    return latency;
  }
  std::vector<const LatencyHistogram*> all;
  std::int64_t max_ns = 0;
  for (const ExecutorReport& executor : executors) {
    const LatencyHistogram& latencies = executor.counters.*which;
    all.push_back(&latencies);
    latency.samples += latencies.count();
    max_ns = std::max(max_ns, latencies.max_ns());
  }
  latency.measured = latency.samples > 0;
  latency.p50_ms = static_cast<double>(PercentileNanos(all, 0.50)) / kNanosPerMilli;
  latency.p99_ms = static_cast<double>(PercentileNanos(all, 0.99)) / kNanosPerMilli;
  latency.p999_ms = static_cast<double>(PercentileNanos(all, 0.999)) / kNanosPerMilli;
  latency.max_ms = static_cast<double>(max_ns) / kNanosPerMilli;
  return latency;
}

ScheduleReport ScheduleOf(const std::vector<ExecutorReport>& executors, const ExecutorMetrics& total) {
  constexpr double kMostMillis = 100;
  constexpr double kMostShare = 0.01;
  ScheduleReport schedule{.has_records = total.scheduled_records > 0,
                          .lag_ms = static_cast<double>(total.schedule_lag_ns) / kNanosPerMilli,
                          .last_lag_ms = static_cast<double>(total.last_schedule_lag_ns) / kNanosPerMilli};
  for (const ExecutorReport& executor : executors) {
    const ExecutorMetrics& counters = executor.counters;
    if (counters.scheduled_records > 1) {  // the last record's time is one step behind that of the one before
      schedule.records_per_second += Rate(static_cast<double>(counters.scheduled_records - 1),
                                          SecondsBetween(0, static_cast<std::int64_t>(counters.schedule_ns)));
    }
  }
  const double schedule_ms = static_cast<double>(total.schedule_ns) / kNanosPerMilli;
  schedule.sustained = schedule.has_records && schedule.last_lag_ms <= std::max(kMostMillis, kMostShare * schedule_ms);
  return schedule;
}

}  // namespace

BuildReport ThisBuild() {
  return {.version = std::string(Version()),
          .commit = std::string(Commit()),
          .build_type = std::string(BuildType()),
          .compiler = std::string(Compiler()),
          .compiler_flags = std::string(CompilerFlags())};
}

RunReport BuildRunReport(std::span<const NodeMetrics> nodes, ReportScope scope) {
  RunReport report;
  report.build = ThisBuild();
  report.nodes = static_cast<std::uint32_t>(nodes.size());
  for (const NodeMetrics& node : nodes) {
    report.peak_memory_bytes += node.peak_memory_bytes;
    report.ring_bytes += node.ring_bytes;
    for (const RegionUse& region : node.regions) {
      AddRegion(report.regions, region);
    }
    for (const ExecutorMetrics& executor : node.executors) {
      report.executors.push_back(ReportOf(executor, node.node));
      AddCounters(report.total, executor);
    }
    report.executors_per_node = std::max(report.executors_per_node, static_cast<std::uint32_t>(node.executors.size()));
  }
  std::sort(report.executors.begin(), report.executors.end(),
            [](const auto& left, const auto& right) { return left.executor < right.executor; });
  for (const ExecutorReport& executor : report.executors) {
    if (report.first_bad_record.empty()) {
      report.first_bad_record = executor.counters.first_bad_record;
    }
  }
  report.seconds = RunSeconds(report.executors, scope.one_host);
  report.records_per_second = Rate(static_cast<double>(report.total.records), report.seconds);
  report.gigabytes_per_second = Rate(static_cast<double>(report.total.input_bytes) / kBytesPerGigabyte, report.seconds);
  if (const std::uint64_t entries = report.total.delta_entries + report.total.own_entries; entries > 0) {
    report.folds_per_delta_entry =
        static_cast<double>(report.total.folded_records + report.total.appended_records) / static_cast<double>(entries);
  }
  report.window_latency = LatencyOf(report.executors, &ExecutorMetrics::window_latency, scope.one_host);
  report.row_latency = LatencyOf(report.executors, &ExecutorMetrics::row_latency, scope.one_host);
  report.schedule = ScheduleOf(report.executors, report.total);
  return report;
}

}  // namespace glaive::engine
