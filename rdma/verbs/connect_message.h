// ConnectMessage: the message that both ends of a connection send each other as rdma_cm's private data, before any
// write.
//
//   offset size  field
//        0    4  magic     "GLVC"
//        4    2  version   2
//        6    2  reserved  zero
//        8    4  from      the executor that sends it
//       12    4  to        the executor that it is for
//       16    8  token     good for one connection of one run; see ConnectToken (run_key.h)
//
// rdma_cm carries at most 56 bytes; memory addresses and keys go over the bootstrap connection. Little-endian.
// Read as hostile input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace glaive::rdma {

/// See the byte table at the head of this file.
struct ConnectMessage {
  static constexpr std::uint32_t kMagic = 0x43564C47;
  static constexpr std::uint16_t kVersion = 2;

  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t reserved = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t token = 0;

  /// InvalidArgument when the bytes are no message of this version. What follows it is ignored: rdma_cm pads.
  static absl::StatusOr<ConnectMessage> Read(std::span<const std::byte> bytes);

  bool operator==(const ConnectMessage&) const = default;
};

inline constexpr std::size_t kMaxPrivateDataBytes = 56;

static_assert(sizeof(ConnectMessage) == 24);
static_assert(sizeof(ConnectMessage) <= kMaxPrivateDataBytes);
static_assert(offsetof(ConnectMessage, version) == 4);
static_assert(offsetof(ConnectMessage, from) == 8);
static_assert(offsetof(ConnectMessage, to) == 12);
static_assert(offsetof(ConnectMessage, token) == 16);

}  // namespace glaive::rdma
