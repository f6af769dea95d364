// MachineInfo: the machine a result was measured on. A figure without its machine is worth nothing.
//
// Reads /proc and /sys; called by `main` at start-up. What cannot be read is left empty or 0.
//
//   MachineInfo machine = DescribeMachine();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace glaive::engine {

struct MachineInfo {
  std::string host;                       ///< host name
  std::string cpu_model;                  ///< "model name" of the first processor
  std::uint32_t cores = 0;                ///< logical processors this process may use
  std::uint64_t memory_bytes = 0;         ///< physical memory
  std::string kernel;                     ///< release, as from uname(2)
  std::vector<std::string> rdma_devices;  ///< names below /sys/class/infiniband, sorted
};

/// This host's name, or "".
std::string HostName();

/// The processors that the calling thread may run on, ascending.
std::vector<int> AllowedCpus();

/// A line of /proc/meminfo, e.g. "MemAvailable", in bytes; `root` is put before /proc, for tests.
std::optional<std::uint64_t> MemoryInfoBytes(const std::string& name, const std::string& root = "");

/// Describes this machine; `root` is put before /proc and /sys, for tests.
MachineInfo DescribeMachine(const std::string& root = "");

}  // namespace glaive::engine
