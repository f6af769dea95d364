// The GID table of a device, and which of its entries the queue pairs of an address use.
//
// A RoCE port has each GID twice: for RoCE v1, which is not routed, and for RoCE v2 (InfiniBand Architecture
// Specification, annexes A16 and A17). rdma_cm uses RoCE v2 where both are there.
//
//   const std::vector<GidEntry> table = ReadGidTable(context, 256);
//   const GidEntry* const found = FindGid(table, port, gid);  // index 3, RoCE v2
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct ibv_context;

namespace glaive::rdma {

enum class GidType : std::uint8_t { kOther, kInfiniBand, kRoceV1, kRoceV2 };

/// "InfiniBand", "RoCE v1", "RoCE v2" or empty.
const char* Name(GidType type);

using Gid = std::array<std::byte, 16>;

/// The GID as an IPv6 address.
std::string Format(const Gid& gid);

struct GidEntry {
  std::uint32_t port = 1;
  std::int32_t index = 0;  ///< in the port's table
  GidType type = GidType::kOther;
  Gid gid{};
};

/// All entries of all ports, at most so many; empty where they cannot be read.
std::vector<GidEntry> ReadGidTable(ibv_context* context, std::size_t most);

/// The entry of `port` with this GID, of several the one of RoCE v2; null where there is none.
const GidEntry* FindGid(std::span<const GidEntry> table, std::uint32_t port, const Gid& gid);

}  // namespace glaive::rdma
