#include "engine/metrics/node_metrics.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

#include "engine/metrics/counter_fields.h"

namespace glaive::engine {
namespace {

using Json = nlohmann::json;

constexpr const char* kWindowLatency = "window_latency";
constexpr const char* kRowLatency = "row_latency";

Json ToJson(const LatencyHistogram& latencies) {
  return {{"max_ns", latencies.max_ns()}, {"buckets", latencies.buckets()}};  // pairs are arrays
}

Json ToJson(const ExecutorMetrics& metrics) {
  Json object = {{"executor", metrics.executor},
                 {"first_bad_record", metrics.first_bad_record},
                 {"first_batch_ns", metrics.first_batch_ns},
                 {"last_result_ns", metrics.last_result_ns},
                 {kWindowLatency, ToJson(metrics.window_latency)},
                 {kRowLatency, ToJson(metrics.row_latency)}};
  for (const CounterField& field : kCounterFields) {
    object[field.name] = metrics.*field.member;
  }
  return object;
}

absl::Status WrongField(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat("the metrics of a node have no valid field '", name, "'"));
}

// Takes the integer called `name` out of `object` into `value`.
template <typename Integer>
absl::Status Take(const Json& object, const char* name, Integer& value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) {
    return WrongField(name);
  }
  if constexpr (std::is_unsigned_v<Integer>) {
    if (!found->is_number_unsigned() || found->template get<std::uint64_t>() > std::numeric_limits<Integer>::max()) {
      return WrongField(name);
    }
  }
  value = found->template get<Integer>();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RegionUse>> RegionsFrom(const Json& object) {
  const auto found = object.find("regions");
  if (found == object.end() || !found->is_array()) {
    return WrongField("regions");
  }
  std::vector<RegionUse> regions;
  for (const Json& entry : *found) {
    const auto what = entry.find("what");
    const auto pages = entry.find("pages");
    RegionUse region;
    if (!entry.is_object() || what == entry.end() || !what->is_string() || pages == entry.end() || !pages->is_array() ||
        !Take(entry, "bytes", region.bytes).ok()) {
      return WrongField("regions");
    }
    region.what = what->get<std::string>();
    for (const Json& kind : *pages) {
      if (!kind.is_string()) {
        return WrongField("regions");
      }
      region.pages.insert(kind.get<std::string>());
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

absl::Status TakeLatency(const Json& object, const char* name, LatencyHistogram& latencies) {
  const auto found = object.find(name);
  std::int64_t max_ns = 0;
  if (found == object.end() || !found->is_object() || !Take(*found, "max_ns", max_ns).ok()) {
    return WrongField(name);
  }
  latencies.SetMax(max_ns);
  const auto buckets = found->find("buckets");
  if (buckets == found->end() || !buckets->is_array()) {
    return WrongField(name);
  }
  for (const Json& bucket : *buckets) {
    if (!bucket.is_array() || bucket.size() != 2 || !bucket[0].is_number_unsigned() ||
        !bucket[1].is_number_unsigned() ||
        !latencies.AddBucket(bucket[0].get<std::size_t>(), bucket[1].get<std::uint64_t>())) {
      return WrongField(name);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ExecutorMetrics> ExecutorFrom(const Json& object) {
  if (!object.is_object()) {
    return WrongField("executors");
  }
  ExecutorMetrics metrics;
  absl::Status status = Take(object, "executor", metrics.executor);
  status.Update(Take(object, "first_batch_ns", metrics.first_batch_ns));
  status.Update(Take(object, "last_result_ns", metrics.last_result_ns));
  for (const CounterField& field : kCounterFields) {
    status.Update(Take(object, field.name, metrics.*field.member));
  }
  status.Update(TakeLatency(object, kWindowLatency, metrics.window_latency));
  status.Update(TakeLatency(object, kRowLatency, metrics.row_latency));
  const auto first_bad_record = object.find("first_bad_record");
  if (first_bad_record == object.end() || !first_bad_record->is_string()) {
    status.Update(WrongField("first_bad_record"));
  }
  if (!status.ok()) {
    return status;
  }
  metrics.first_bad_record = first_bad_record->get<std::string>();
  return metrics;
}

absl::StatusOr<std::vector<ResultPart>> PartsFrom(const Json& object) {
  const auto found = object.find("parts");
  if (found == object.end() || !found->is_array()) {
    return WrongField("parts");
  }
  std::vector<ResultPart> parts;
  for (const Json& entry : *found) {
    const auto output = entry.find("output");
    const auto inside = entry.find("inside");
    ResultPart part;
    if (!entry.is_object() || output == entry.end() || !output->is_string() || inside == entry.end() ||
        !inside->is_string() || !Take(entry, "executor", part.executor).ok() || !Take(entry, "rows", part.rows).ok() ||
        !Take(entry, "bytes", part.bytes).ok() || !Take(entry, "header_bytes", part.header_bytes).ok() ||
        !Take(entry, "inode", part.inode).ok()) {
      return WrongField("parts");
    }
    if (!absl::CUnescape(output->get<std::string>(), &part.output) ||
        !absl::CUnescape(inside->get<std::string>(), &part.inside)) {
      return WrongField("parts");
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

void AddRegion(std::vector<RegionUse>& regions, const RegionUse& more) {
  const auto found =
      std::find_if(regions.begin(), regions.end(), [&](const RegionUse& region) { return region.what == more.what; });
  if (found == regions.end()) {
    regions.push_back(more);
    return;
  }
  found->bytes += more.bytes;
  found->pages.insert(more.pages.begin(), more.pages.end());
}

std::string EncodeNodeMetrics(const NodeMetrics& metrics) {
  Json regions = Json::array();
  for (const RegionUse& region : metrics.regions) {
    regions.push_back({{"what", region.what}, {"bytes", region.bytes}, {"pages", region.pages}});
  }
  Json executors = Json::array();
  for (const ExecutorMetrics& executor : metrics.executors) {
    executors.push_back(ToJson(executor));
  }
  Json parts = Json::array();
  for (const ResultPart& part : metrics.parts) {
    parts.push_back({{"output", absl::CEscape(part.output)},  // a file's name need not be UTF-8
                     {"inside", absl::CEscape(part.inside)},
                     {"executor", part.executor},
                     {"rows", part.rows},
                     {"bytes", part.bytes},
                     {"header_bytes", part.header_bytes},
                     {"inode", part.inode}});
  }
  const Json object = {{"node", metrics.node},
                       {"peak_memory_bytes", metrics.peak_memory_bytes},
                       {"ring_bytes", metrics.ring_bytes},
                       {"regions", std::move(regions)},
                       {"executors", std::move(executors)},
                       {"parts", std::move(parts)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<NodeMetrics> DecodeNodeMetrics(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::InvalidArgumentError("the metrics of a node are no JSON object");
  }
  NodeMetrics metrics;
  absl::Status status = Take(object, "node", metrics.node);
  status.Update(Take(object, "peak_memory_bytes", metrics.peak_memory_bytes));
  status.Update(Take(object, "ring_bytes", metrics.ring_bytes));
  if (!status.ok()) {
    return status;
  }
  absl::StatusOr<std::vector<RegionUse>> regions = RegionsFrom(object);
  if (!regions.ok()) {
    return regions.status();
  }
  metrics.regions = *std::move(regions);
  absl::StatusOr<std::vector<ResultPart>> parts = PartsFrom(object);
  if (!parts.ok()) {
    return parts.status();
  }
  metrics.parts = *std::move(parts);
  const auto executors = object.find("executors");
  if (executors == object.end() || !executors->is_array()) {
    return WrongField("executors");
  }
  for (const Json& entry : *executors) {
    absl::StatusOr<ExecutorMetrics> executor = ExecutorFrom(entry);
    if (!executor.ok()) {
      return executor.status();
    }
    metrics.executors.push_back(*std::move(executor));
  }
  return metrics;
}

std::uint64_t PeakMemoryBytes() {
  constexpr std::string_view kField = "VmHWM:";  // in KiB
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kField)) return std::strtoull(line.c_str() + kField.size(), nullptr, 10) * 1024;
  }
  return 0;
}

}  // namespace glaive::engine
