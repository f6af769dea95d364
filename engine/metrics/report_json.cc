#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "engine/metrics/counter_fields.h"
#include "engine/metrics/run_report.h"

namespace glaive::engine {
namespace {

using OrderedJson = nlohmann::ordered_json;

void PutCounters(OrderedJson& object, const ExecutorMetrics& metrics) {
  for (const CounterField& field : kCounterFields) {
    object[field.name] = metrics.*field.member;
  }
}

OrderedJson ToJson(const MachineInfo& machine) {
  return {{"host", machine.host},     {"cpu_model", machine.cpu_model},
          {"cores", machine.cores},   {"memory_bytes", machine.memory_bytes},
          {"kernel", machine.kernel}, {"rdma_devices", machine.rdma_devices}};
}

/// `samples` is what is counted.
OrderedJson ToJson(const Latency& latency, const char* samples) {
  return {{"measured", latency.measured}, {"p50_ms", latency.p50_ms}, {"p99_ms", latency.p99_ms},
          {"p999_ms", latency.p999_ms},   {"max_ms", latency.max_ms}, {samples, latency.samples}};
}

OrderedJson ToJson(const ScheduleReport& schedule) {
  return {{"has_records", schedule.has_records},
          {"records_per_second", schedule.records_per_second},
          {"lag_ms", schedule.lag_ms},
          {"last_lag_ms", schedule.last_lag_ms},
          {"sustained", schedule.sustained}};
}

OrderedJson ToJson(const ExecutorReport& executor) {
  OrderedJson object = {{"executor", executor.executor},
                        {"node", executor.node},
                        {"seconds", executor.seconds},
                        {"records_per_second", executor.records_per_second},
                        {"gigabytes_per_second", executor.gigabytes_per_second}};
  PutCounters(object, executor.counters);
  return object;
}

OrderedJson ToJson(const RegionUse& region) {
  return {{"what", region.what}, {"bytes", region.bytes}, {"pages", absl::StrJoin(region.pages, "+")}};
}

const char* NameOf(Verification verification) {
  switch (verification) {
    case Verification::kPassed:
      return "passed";
    case Verification::kFailed:
      return "failed";
    case Verification::kNotRun:
      break;
  }
  return "not run";
}

}  // namespace

std::string ToJsonLine(const RunReport& report) {
  OrderedJson object = {{"program", report.program},
                        {"version", report.build.version},
                        {"commit", report.build.commit},
                        {"build_type", report.build.build_type},
                        {"compiler", report.build.compiler},
                        {"compiler_flags", report.build.compiler_flags},
                        {"machine", ToJson(report.machine)},
                        {"transport", report.transport},
                        {"devices", report.devices},
                        {"processors", report.processors},
                        {"settings", OrderedJson::object()},
                        {"nodes", report.nodes},
                        {"executors_per_node", report.executors_per_node},
                        {"seconds", report.seconds},
                        {"records_per_second", report.records_per_second},
                        {"gigabytes_per_second", report.gigabytes_per_second},
                        {"folds_per_delta_entry", report.folds_per_delta_entry}};
  for (const auto& [name, value] : report.settings) {
    object["settings"][name] = value;
  }
  PutCounters(object, report.total);
  object["first_bad_record"] = report.first_bad_record;
  object["peak_memory_bytes"] = report.peak_memory_bytes;
  object["ring_bytes"] = report.ring_bytes;
  object["regions"] = OrderedJson::array();
  for (const RegionUse& region : report.regions) {
    object["regions"].push_back(ToJson(region));
  }
  object["window_latency"] = ToJson(report.window_latency, "windows");
  object["row_latency"] = ToJson(report.row_latency, "rows");
  object["schedule"] = ToJson(report.schedule);
  object["verification"] = NameOf(report.verification);
  object["files"] = OrderedJson::array();
  for (const FileReport& file : report.files) {
    object["files"].push_back({{"path", file.path}, {"rows", file.rows}, {"bytes", file.bytes}});
  }
  OrderedJson executors = OrderedJson::array();
  for (const ExecutorReport& executor : report.executors) {
    executors.push_back(ToJson(executor));
  }
  object["executors"] = std::move(executors);
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace glaive::engine
