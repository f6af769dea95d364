#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "engine/metrics/run_report.h"
#include "rdma/base/bytes.h"

namespace glaive::engine {
namespace {

constexpr double kMillion = 1e6;

// 12345678 as "12,345,678".
std::string Grouped(std::uint64_t value) {
  std::string digits = absl::StrCat(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) {
    digits.insert(at - 3, 1, ',');
  }
  return digits;
}

void Line(std::ostream& out, const std::string& name, const std::string& value) {
  out << absl::StreamFormat("  %-18s %s\n", name, value);
}

std::string Rates(double records_per_second, double gigabytes_per_second) {
  return absl::StrFormat("%.2f M records/s, %.2f GB/s", records_per_second / kMillion, gigabytes_per_second);
}

std::string LatencyText(const Latency& latency, const char* samples) {
  if (!latency.measured) {
    return "not measured";
  }
  return absl::StrFormat("p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, max %.2f ms over %s %s", latency.p50_ms,
                         latency.p99_ms, latency.p999_ms, latency.max_ms, Grouped(latency.samples), samples);
}

std::string ScheduleText(const ScheduleReport& schedule) {
  const std::string times =
      absl::StrFormat("%.3f M records/s offered, read up to %.2f ms after their times, %.2f ms at the end: ",
                      schedule.records_per_second / kMillion, schedule.lag_ms, schedule.last_lag_ms);
  return times + (schedule.sustained ? "sustained" : "NOT SUSTAINED, so latencies grow with the length of the run");
}

const char* VerificationText(Verification verification) {
  switch (verification) {
    case Verification::kPassed:
      return "passed: every result equals a sequential run's";
    case Verification::kFailed:
      return "FAILED";
    case Verification::kNotRun:
      break;
  }
  return "not run (--verify)";
}

std::string PagesText(const std::vector<RegionUse>& regions) {
  return absl::StrJoin(regions, ", ", [](std::string* text, const RegionUse& region) {
    absl::StrAppend(text, region.what, " ", absl::StrJoin(region.pages, "+"));
  });
}

void PrintHeading(const RunReport& report, std::ostream& out) {
  out << report.program << " " << report.build.version << " (commit " << report.build.commit << ", "
      << report.build.build_type << ")\n";
  const MachineInfo& machine = report.machine;
  Line(out, "machine",
       absl::StrFormat("%s: %s, %d cores, %s, rdma devices: %s", machine.host, machine.cpu_model, machine.cores,
                       FormatBytes(machine.memory_bytes),
                       machine.rdma_devices.empty() ? "none" : absl::StrJoin(machine.rdma_devices, " ")));
  Line(out, "run",
       absl::StrFormat("%d node(s) x %d executor(s), transport %s", report.nodes, report.executors_per_node,
                       report.transport));
}

void PrintInput(const RunReport& report, std::ostream& out) {
  const ExecutorMetrics& total = report.total;
  Line(out, "throughput", Rates(report.records_per_second, report.gigabytes_per_second));
  Line(out, "records",
       absl::StrFormat("%s in %.3f s, %s accepted, %s late", Grouped(total.records), report.seconds,
                       Grouped(total.records_accepted), Grouped(total.late_records)));
  if (total.records > 0 && total.processor_ns > 0) {
    Line(out, "processor time",
         absl::StrFormat("%.1f ns a record, of all executors' threads",
                         static_cast<double>(total.processor_ns) / static_cast<double>(total.records)));
  }
  if (total.idle_periods > 0) {
    Line(out, "idle",
         absl::StrFormat("%s periods of %.3f s in all, in which windows did not wait for the executor",
                         Grouped(total.idle_periods), static_cast<double>(total.idle_ns) * 1e-9));
  }
  if (total.bad_records > 0) {
    Line(out, "bad records",
         absl::StrFormat("%s skipped, first: %s", Grouped(total.bad_records), report.first_bad_record));
  }
  if (total.outside_records > 0) {
    Line(out, "outside records",
         absl::StrFormat("%s skipped: outside the input's time", Grouped(total.outside_records)));
  }
}

void PrintResults(const RunReport& report, std::ostream& out) {
  const ExecutorMetrics& total = report.total;
  Line(out, "windows",
       absl::StrFormat("%s results, %s windows fired, %s before the end of the stream", Grouped(total.results),
                       Grouped(total.windows_fired), Grouped(total.windows_fired_early)));
  if (report.schedule.has_records) {
    Line(out, "schedule", ScheduleText(report.schedule));
  }
  Line(out, "window latency", LatencyText(report.window_latency, "windows"));
  if (report.row_latency.measured) {
    Line(out, "row latency", LatencyText(report.row_latency, "rows"));
  }
}

void PrintMessages(const RunReport& report, std::ostream& out) {
  const ExecutorMetrics& total = report.total;
  Line(out, "epochs", Grouped(total.epochs));
  Line(out, "longest round",
       absl::StrFormat("%.2f ms without polling the channels", static_cast<double>(total.longest_round_ns) / 1e6));
  Line(out, "deltas",
       absl::StrFormat("%s in %s entries, %.2f records in each, %s merged", FormatBytes(total.delta_bytes),
                       Grouped(total.delta_entries), report.folds_per_delta_entry, Grouped(total.merges)));
  if (total.exchanged_records > 0) {
    Line(out, "exchanges",
         absl::StrFormat("%s records handed on, %s to other executors, %s waits", Grouped(total.exchanged_records),
                         FormatBytes(total.exchanged_bytes), Grouped(total.exchange_waits)));
  }
  Line(
      out, "folding",
      absl::StrFormat("%s records folded, %s appended, %s switches, %s renewals", Grouped(total.folded_records),
                      Grouped(total.appended_records), Grouped(total.fold_switches), Grouped(total.combiner_renewals)));
  Line(out, "channels",
       absl::StrFormat("%s messages, %s credit stalls, at most %s laps, rings %s", Grouped(total.messages),
                       Grouped(total.credit_stalls), Grouped(total.max_ring_laps), FormatBytes(report.ring_bytes)));
}

void PrintState(const RunReport& report, std::ostream& out) {
  const ExecutorMetrics& total = report.total;
  Line(out, "memory",
       absl::StrFormat("peak %s, state %s, index grown %s times", FormatBytes(report.peak_memory_bytes),
                       FormatBytes(total.state_bytes), Grouped(total.index_growths)));
  if (total.cell_slices + total.cell_moves > 0) {
    Line(out, "cells",
         absl::StrFormat("%s slices opened with cells, %s moved to them, %s gave them up", Grouped(total.cell_slices),
                         Grouped(total.cell_moves), Grouped(total.unfit_cells)));
  }
  if (total.kept_tuples > 0) {
    Line(out, "kept tuples",
         absl::StrFormat("at most %s at one time, %.1f bytes of state each", Grouped(total.kept_tuples),
                         static_cast<double>(total.kept_tuple_bytes) / static_cast<double>(total.kept_tuples)));
  }
  Line(out, "pages", PagesText(report.regions));
}

void PrintOutcome(const RunReport& report, std::ostream& out) {
  Line(out, "verification", VerificationText(report.verification));
  for (const FileReport& file : report.files) {
    Line(out, "result file",
         absl::StrFormat("%s: %s rows, %s", file.path, Grouped(file.rows), FormatBytes(file.bytes)));
  }
}

}  // namespace

void PrintTable(const RunReport& report, std::ostream& out) {
  PrintHeading(report, out);
  PrintInput(report, out);
  PrintResults(report, out);
  PrintMessages(report, out);
  PrintState(report, out);
  PrintOutcome(report, out);
  if (report.executors.size() < 2) {
    return;
  }
  for (const ExecutorReport& executor : report.executors) {
    Line(out, absl::StrCat("executor ", executor.executor),
         absl::StrFormat("node %d, %s in %.3f s, %s epochs, %s stalls", executor.node,
                         Rates(executor.records_per_second, executor.gigabytes_per_second), executor.seconds,
                         Grouped(executor.counters.epochs), Grouped(executor.counters.credit_stalls)));
  }
}

}  // namespace glaive::engine
