#include "engine/metrics/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"

namespace glaive::engine {
namespace {

// The text after "name :" in the first line of that name in a file of /proc.
std::string FieldOf(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0 ||
        line.find_first_not_of(" \t", name.size()) != colon) {
      continue;
    }
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string HostName() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

std::vector<int> AllowedCpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

std::optional<std::uint64_t> MemoryInfoBytes(const std::string& name, const std::string& root) {
  const std::string text = FieldOf(root + "/proc/meminfo", name);  // "16384 kB"
  std::uint64_t kibibytes = 0;
  if (!absl::SimpleAtoi(text.substr(0, text.find(' ')), &kibibytes)) {
    return std::nullopt;
  }
  return kibibytes * 1024;
}

MachineInfo DescribeMachine(const std::string& root) {
  MachineInfo machine;
  machine.host = HostName();
  utsname system{};
  if (::uname(&system) == 0) {
    machine.kernel = system.release;
  }
  machine.cpu_model = FieldOf(root + "/proc/cpuinfo", "model name");
  machine.cores = static_cast<std::uint32_t>(AllowedCpus().size());
  machine.memory_bytes = MemoryInfoBytes("MemTotal", root).value_or(0);
  machine.rdma_devices = EntriesOf(root + "/sys/class/infiniband");
  return machine;
}

}  // namespace glaive::engine
