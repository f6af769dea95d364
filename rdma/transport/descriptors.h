// What an executor tells its peers about itself before they can write into its memory: plain integers, carried by the
// bootstrap connection. What they mean is the transport's business alone.
//
//                   | local                     | shm
//   endpoint.owner  | process id                | process id
//   region.owner    | process id                | process id
//   region.key      | 0                         | file descriptor of the memory file in that process
//   region.address  | virtual address           | inode of the memory file: tells a reused descriptor apart
//   region.size     | bytes                     | bytes
//
// RC queue pairs will put a remote key, a virtual address and the address to connect to in the same fields.
#pragma once

#include <cstdint>

namespace glaive::rdma {

/// How two executors reach each other.
enum class TransportKind : std::uint8_t {
  kLocal,  ///< executors of one process: a pointer
  kShm,    ///< processes of one host: shared memory
};

/// "local" or "shm"; results always carry it.
constexpr const char* Name(TransportKind kind) { return kind == TransportKind::kLocal ? "local" : "shm"; }

/// Where a transport's queue pairs can be connected to.
struct EndpointDescriptor {
  std::uint64_t owner = 0;
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
