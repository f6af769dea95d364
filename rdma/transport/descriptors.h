// Descriptors: the address and memory of an executor, which its peers need to write into its memory. They are integers
// and travel over the bootstrap connection. Each transport gives them a meaning of its own:
//
//                     | local           | shm                                                | verbs
//   endpoint.owner    | process id      | process id                                         | 0
//   endpoint.address  | empty           | empty                                              | "10.0.0.1:40123"
//   region.owner      | process id      | process id                                         | executor
//   region.key        | 0               | file descriptor of the memory file in that process | remote key
//   region.address    | virtual address | inode of the memory file: tells a reused one apart | virtual address
//   region.size_bytes | bytes           | bytes                                              | bytes
#pragma once

#include <cstdint>
#include <string>

namespace glaive::rdma {

/// How two executors reach each other.
enum class TransportKind : std::uint8_t {
  kLocal,  ///< executors of one process: a pointer
  kShm,    ///< processes of one host: shared memory
  kVerbs,  ///< any hosts: RDMA WRITE by reliable connections
};

inline constexpr std::uint32_t kTransportKinds = 3;

/// "local", "shm" or "verbs"; results always carry it.
constexpr const char* Name(TransportKind kind) {
  switch (kind) {
    case TransportKind::kLocal:
      return "local";
    case TransportKind::kShm:
      return "shm";
    case TransportKind::kVerbs:
      return "verbs";
  }
  return "unknown";
}

/// Where a transport's queue pairs can be connected to.
struct EndpointDescriptor {
  std::uint64_t owner = 0;
  std::string address{};
  bool operator==(const EndpointDescriptor&) const = default;
};

/// Memory that peers may attach and write.
struct RegionDescriptor {
  std::uint64_t owner = 0;
  std::uint64_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const RegionDescriptor&) const = default;
};

}  // namespace glaive::rdma
