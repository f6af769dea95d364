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

WindowLatency LatencyOf(const std::vector<ExecutorReport>& executors, bool one_clock) {
  WindowLatency latency;
  if (!one_clock) {
    return latency;
  }
  std::vector<const LatencySamples*> samples;
  std::int64_t max_ns = 0;
  for (const ExecutorReport& executor : executors) {
    samples.push_back(&executor.counters.window_latency);
    latency.windows += executor.counters.window_latency.count();
    max_ns = std::max(max_ns, executor.counters.window_latency.max_ns());
  }
  latency.measured = latency.windows > 0;
  latency.p50_ms = static_cast<double>(PercentileNanos(samples, 0.50)) / kNanosPerMilli;
  latency.p99_ms = static_cast<double>(PercentileNanos(samples, 0.99)) / kNanosPerMilli;
  latency.max_ms = static_cast<double>(max_ns) / kNanosPerMilli;
  return latency;
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
  report.window_latency = LatencyOf(report.executors, scope.one_host);
  return report;
}

}  // namespace glaive::engine
