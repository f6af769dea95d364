#include "rdma/base/numa_nodes.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace glaive {
namespace {

constexpr int kOwnDistance = 10;    // ACPI's, of a node to itself
constexpr int kOtherDistance = 20;  // where the kernel names none
constexpr int kFarthest = std::numeric_limits<int>::max();

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0-3,8" as 0, 1, 2, 3, 8. Parts that are no numbers are left out.
std::vector<int> CpusIn(const std::string& list) {
  std::vector<int> cpus;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0;
    int last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    if (!absl::SimpleAtoi(ends.second, &last)) last = first;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> NumbersIn(const std::string& line) {
  std::istringstream words(line);
  std::vector<int> numbers;
  for (int number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

NumaNodes NumaNodes::Read(const std::string& root) {
  NumaNodes numa;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (!name.starts_with("node") || !absl::SimpleAtoi(name.substr(4), &number)) continue;
    numa.nodes_.push_back({.number = number,
                           .cpus = CpusIn(FirstLineOf(entry.path().string() + "/cpulist")),
                           .distances = NumbersIn(FirstLineOf(entry.path().string() + "/distance"))});
  }
  std::ranges::sort(numa.nodes_, {}, &Node::number);
  return numa;
}

bool NumaNodes::are_several() const {
  return std::ranges::count_if(nodes_, [](const Node& node) { return !node.cpus.empty(); }) > 1;
}

std::optional<int> NumaNodes::NodeOf(int cpu) const {
  for (const Node& node : nodes_) {
    if (std::ranges::count(node.cpus, cpu) > 0) return node.number;
  }
  return std::nullopt;
}

int NumaNodes::Distance(int from, int to) const {
  const auto start = std::ranges::find(nodes_, from, &Node::number);
  const auto end = std::ranges::find(nodes_, to, &Node::number);
  const auto place = static_cast<std::size_t>(end - nodes_.begin());
  if (start != nodes_.end() && place < start->distances.size()) return start->distances[place];
  return from == to ? kOwnDistance : kOtherDistance;
}

std::vector<int> NumaNodes::NearestFirst(std::vector<int> cpus, int node) const {
  std::ranges::stable_sort(cpus, {}, [&](int cpu) {
    const std::optional<int> of = NodeOf(cpu);
    return of.has_value() ? std::pair(Distance(node, *of), *of) : std::pair(kFarthest, kFarthest);
  });
  return cpus;
}

std::string NumaNodes::Describe(std::span<const int> cpus) const {
  std::vector<std::string> groups;
  for (auto first = cpus.begin(); first != cpus.end();) {
    const std::optional<int> node = are_several() ? NodeOf(*first) : std::nullopt;
    const auto last = std::find_if(first, cpus.end(), [&](int cpu) { return node.has_value() && NodeOf(cpu) != node; });
    groups.push_back(absl::StrCat(absl::StrJoin(first, last, ", "),
                                  node.has_value() ? absl::StrCat(" (NUMA node ", *node, ")") : ""));
    first = last;
  }
  return absl::StrJoin(groups, ", ");
}

std::optional<int> NumaNodeOfDevice(const std::string& device, const std::string& root) {
  int node = -1;
  const std::string line = FirstLineOf(absl::StrCat(root, "/sys/class/infiniband/", device, "/device/numa_node"));
  if (!absl::SimpleAtoi(line, &node) || node < 0) return std::nullopt;
  return node;
}

}  // namespace glaive
