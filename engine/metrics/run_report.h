// RunReport: the outcome of a run as plain numbers, for a table on the terminal and for one line of JSON.
//
// Rank 0 fills it after the run: BuildRunReport adds up the nodes' metrics, `main` puts in what only it knows
// (program, settings, verification, files). docs/metrics.md describes every field of the JSON; a test compares the two.
//
//   RunReport report = BuildRunReport(nodes, {.one_host = plane.one_host()});
//   report.program = "ysb";
//   PrintTable(report, std::cout);
//   absl::Status written = file.Write(ToJsonLine(report));
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/metrics/machine.h"
#include "engine/metrics/node_metrics.h"

namespace glaive::engine {

/// One executor's line of the report.
struct ExecutorReport {
  std::uint32_t executor = 0;
  std::uint32_t node = 0;
  double seconds = 0;  ///< its first batch to its last result
  double records_per_second = 0;
  double gigabytes_per_second = 0;
  ExecutorMetrics counters;
};

/// Latencies to results: from reading a batch, or from the time at which a schedule had it read (--rate).
struct Latency {
  bool measured = false;  ///< false: several hosts (their clocks differ), or no sample
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;  ///< 99.9 %
  double max_ms = 0;
  std::uint64_t samples = 0;
};

/// The records that sources were to read at times of a schedule (--rate), and how well they were read by it.
struct ScheduleReport {
  bool has_records = false;
  double records_per_second = 0;  ///< of all executors
  double lag_ms = 0;              ///< longest that a record was read after its time
  double last_lag_ms = 0;         ///< of the last record of an executor, the longest
  bool sustained = false;         ///< the last lag is at most 100 ms, or 1 % of the schedule
};

/// The verdict of --verify.
enum class Verification { kNotRun, kPassed, kFailed };

/// The origin of the binary; see build_info.h.
struct BuildReport {
  std::string version;
  std::string commit;
  std::string build_type;
  std::string compiler;
  std::string compiler_flags;
};

/// A file of the run's results.
struct FileReport {
  std::string path;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
};

struct RunReport {
  std::string program;
  BuildReport build;
  MachineInfo machine;
  std::string transport;                     ///< what the channels really ran over, e.g. "shm", "local+shm"
  std::vector<std::string> devices = {};     ///< RDMA devices in words, by node; empty without verbs
  std::vector<std::string> processors = {};  ///< of the executors in words, by node; empty for one that is not pinned
  std::map<std::string, std::string> settings;

  std::uint32_t nodes = 0;
  std::uint32_t executors_per_node = 0;
  double seconds = 0;  ///< first batch read to last result out, over all executors
  double records_per_second = 0;
  double gigabytes_per_second = 0;      ///< input bytes; 1 GB = 1e9 bytes
  double folds_per_delta_entry = 0;     ///< 0 when no delta entries were sent
  ExecutorMetrics total;                ///< sums; maxima where a field is a maximum
  std::string first_bad_record;         ///< of the first executor that skipped one: where it is, and why
  std::uint64_t peak_memory_bytes = 0;  ///< sum over the nodes
  std::uint64_t ring_bytes = 0;         ///< sum over the nodes
  std::vector<RegionUse> regions;       ///< memory by use, over all nodes
  Latency window_latency;               ///< of windows, from the batch that moved the last clock past a window's end
  Latency row_latency;                  ///< of rows that no stage made, and of pairs of joins without windows
  ScheduleReport schedule;
  Verification verification = Verification::kNotRun;
  std::vector<FileReport> files = {};     ///< the results, once they have their names; empty without
  std::vector<ExecutorReport> executors;  ///< by executor number
};

struct ReportScope {
  /// Whether all nodes share one monotonic clock. Without, times are compared within an executor only.
  bool one_host = true;
};

/// This binary's, from build_info.h.
BuildReport ThisBuild();

/// Adds up what the nodes counted. Program, machine, transport, settings, verification and files are left for the
/// caller.
RunReport BuildRunReport(std::span<const NodeMetrics> nodes, ReportScope scope);

/// The report as one line of JSON, with a newline at its end.
std::string ToJsonLine(const RunReport& report);

/// A short table for people.
void PrintTable(const RunReport& report, std::ostream& out);

}  // namespace glaive::engine
