#include "rdma/verbs/connect_message.h"

#include <cstring>

#include "absl/strings/str_cat.h"

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

}  // namespace glaive::rdma
