#include "engine/cluster/memory_plan.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/metrics/machine.h"
#include "rdma/base/bytes.h"

namespace glaive::engine {
namespace {

/// Of what is available, for code, stacks, buffers and the page tables: a sixteenth, at least 64 MiB.
std::uint64_t ReserveOf(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / 16, std::uint64_t{64} << 20); }

std::optional<std::uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  if (file >> word && absl::SimpleAtoi(word, &number)) {
    return number;
  }
  return std::nullopt;
}

/// The files of a memory cgroup's folder.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* inactive_file;  // the name of its line in memory.stat
};
constexpr CgroupFiles kV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr CgroupFiles kV2{"memory.max", "memory.current", "inactive_file"};

/// The number behind a name in a file of lines "name number"; 0 without.
std::uint64_t StatisticOf(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (file >> word >> number) {
    if (word == name) {
      return number;
    }
  }
  return 0;
}

/// How much memory one cgroup's limit leaves; "no limit" where it has none. The usage includes the page cache. The
/// kernel gives up its inactive part when a process needs memory, so that part counts as free, as for the kubelet.
std::uint64_t LeftIn(const std::string& folder, const CgroupFiles& files) {
  const std::optional<std::uint64_t> limit = ReadNumber(folder + files.limit);
  const std::optional<std::uint64_t> usage = ReadNumber(folder + files.usage);
  if (!limit || !usage) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::uint64_t used = *usage - std::min(*usage, StatisticOf(folder + "memory.stat", files.inactive_file));
  return *limit > used ? *limit - used : 0;
}

/// The least that this process's memory cgroup and those above it leave.
std::uint64_t CgroupAvailable(const std::string& root) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {  // "0::/path" for v2, "5:memory:/path" for v1
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    const bool is_v2 = parts.size() == 3 && parts[0] == "0" && parts[1].empty();
    if (parts.size() != 3 || (!is_v2 && parts[1] != "memory")) {
      continue;
    }
    const std::string base = root + (is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    for (std::string group = parts[2];; group.resize(group.rfind('/'))) {
      const std::string folder = absl::StrCat(base, group == "/" ? "" : group, "/");
      least = std::min(least, LeftIn(folder, is_v2 ? kV2 : kV1));
      if (group.empty() || group == "/") {
        break;
      }
    }
  }
  return least;
}

std::uint64_t FixedBytes(const MemoryNeeds& needs) {
  return needs.readers * needs.source_bytes +
         needs.executors * (needs.segment_bytes + needs.inbox_bytes + needs.ring_bytes + needs.arrival_bytes) +
         needs.verify_bytes + needs.table_bytes;
}

std::string Parts(const MemoryNeeds& needs) {
  return absl::StrCat(
      "input ", FormatBytes(needs.readers * needs.source_bytes), ", send segments ",
      FormatBytes(needs.executors * needs.segment_bytes),
      needs.inbox_bytes == 0 ? "" : absl::StrCat(", inboxes ", FormatBytes(needs.executors * needs.inbox_bytes)),
      ", rings ", FormatBytes(needs.executors * needs.ring_bytes),
      needs.arrival_bytes == 0 ? "" : absl::StrCat(", arrivals ", FormatBytes(needs.executors * needs.arrival_bytes)),
      needs.verify_bytes == 0 ? "" : absl::StrCat(", verification ", FormatBytes(needs.verify_bytes)),
      needs.table_bytes == 0 ? "" : absl::StrCat(", static tables ", FormatBytes(needs.table_bytes)));
}

}  // namespace

std::string MemoryPlan::Describe() const {
  return absl::StrCat("memory plan of a node: ", FormatBytes(node_bytes), " (", needs.nodes_on_host,
                      needs.nodes_on_host == 1 ? " node" : " nodes", " on this host, ", FormatBytes(available_bytes),
                      " available)\n  ", Parts(needs), "\n  state: up to ", FormatBytes(state_bytes_per_executor),
                      " for each of ", needs.executors, needs.executors == 1 ? " executor" : " executors",
                      needs.prefault_bytes == 0
                          ? ""
                          : absl::StrCat(", of which ", FormatBytes(needs.prefault_bytes), " is taken at the start"),
                      "\n");
}

absl::StatusOr<MemoryPlan> PlanMemory(const MemoryNeeds& needs, std::uint64_t available_bytes) {
  const std::uint64_t usable = available_bytes - std::min(available_bytes, ReserveOf(available_bytes));
  const std::uint64_t share = usable / std::max<std::uint32_t>(needs.nodes_on_host, 1) + needs.table_bytes;
  if (needs.limit_bytes > share) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--memory-limit=", FormatBytes(needs.limit_bytes), " is more than a node's share of this host, ",
                     FormatBytes(share), " (", FormatBytes(available_bytes), " available, less a reserve, for ",
                     needs.nodes_on_host, " nodes): lower it, or start fewer nodes on this host"));
  }
  MemoryPlan plan{.needs = needs,
                  .available_bytes = available_bytes,
                  .node_bytes = needs.limit_bytes == 0 ? share : needs.limit_bytes,
                  .state_bytes_per_executor = 0};
  const std::uint64_t fixed = FixedBytes(needs);
  const std::uint64_t least = fixed + needs.executors * kMinStateBytes;
  if (plan.node_bytes < least) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "too little memory: a node needs at least ", FormatBytes(least), " (", Parts(needs), ", state ",
        FormatBytes(needs.executors * kMinStateBytes), ") and may use ", FormatBytes(plan.node_bytes),
        ": read fewer records, lower --slot-bytes, --credits or --fragment-bytes, start fewer --executors, or raise "
        "--memory-limit"));
  }
  plan.state_bytes_per_executor = (plan.node_bytes - fixed) / needs.executors;
  if (needs.prefault_bytes > plan.state_bytes_per_executor) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "--prefault-state=", FormatBytes(needs.prefault_bytes), " is more than the ",
        FormatBytes(plan.state_bytes_per_executor), " that each of ", needs.executors, " executors may use for state (",
        Parts(needs), "): lower it, start fewer --executors, or raise --memory-limit"));
  }
  return plan;
}

std::uint64_t AvailableMemoryBytes(const std::string& root) {
  constexpr auto kUnknown = std::numeric_limits<std::uint64_t>::max();
  return std::min(MemoryInfoBytes("MemAvailable", root).value_or(kUnknown), CgroupAvailable(root));
}

}  // namespace glaive::engine
