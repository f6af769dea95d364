#include "rdma/verbs/connect_message.h"

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include <xxhash.h>

namespace glaive::rdma {

absl::StatusOr<ConnectMessage> ConnectMessage::Read(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(ConnectMessage)) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes of private data, expected ", sizeof(ConnectMessage)));
  }
  ConnectMessage message;
  std::memcpy(&message, bytes.data(), sizeof(message));
  if (message.magic != kMagic) return absl::InvalidArgumentError("the other side is no glaive node");
  if (message.version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the other side speaks version ", message.version, ", expected ", kVersion));
  }
  return message;
}

std::uint64_t ConnectToken(std::uint64_t run_token, NodeId from, NodeId to, std::uint32_t index) {
  const std::array<std::uint32_t, 3> pair = {Value(from), Value(to), index};
  return XXH3_64bits_withSeed(pair.data(), sizeof(pair), run_token);
}

}  // namespace glaive::rdma
