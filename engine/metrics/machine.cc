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

std::uint32_t AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return 0;
  }
  return static_cast<std::uint32_t>(CPU_COUNT(&allowed));
}

std::uint64_t ParseKibibytes(const std::string& text) {
  std::uint64_t kibibytes = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') {
      break;
    }
    kibibytes = kibibytes * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return kibibytes * 1024;
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

MachineInfo DescribeMachine(const std::string& root) {
  MachineInfo machine;
  utsname system{};
  if (::uname(&system) == 0) {
    machine.host = system.nodename;
    machine.kernel = system.release;
  }
  machine.cpu_model = FieldOf(root + "/proc/cpuinfo", "model name");
  machine.cores = AllowedProcessors();
  machine.memory_bytes = ParseKibibytes(FieldOf(root + "/proc/meminfo", "MemTotal"));
  machine.rdma_devices = EntriesOf(root + "/sys/class/infiniband");
  return machine;
}

}  // namespace glaive::engine
