// MeshDescriptor: the addresses and sizes that an executor publishes so that all others can connect to it. Its text
// form goes through the bootstrap connection and is read as hostile input.
//
//   std::string text = mesh->descriptor().Encode();  // "glaive-mesh 4 3 65536 8 1 1 0 4711 - 4711 5 99123 1052672 0"
//   absl::StatusOr<MeshDescriptor> there = MeshDescriptor::Decode(text);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/transport/arrival.h"
#include "rdma/transport/descriptors.h"

namespace glaive::rdma {

/// One transport of an executor: how to connect to it, and the memory to write.
struct Exposure {
  TransportKind kind = TransportKind::kLocal;
  Arrival arrival = Arrival::kImmediate;  ///< how the executor notices messages
  EndpointDescriptor endpoint;
  RegionDescriptor region;
  bool may_be_late = false;  ///< bytes of a complete write may not be there yet (rdma/channel/channel_receiver.h)
  bool operator==(const Exposure&) const = default;
};

/// See the head of this file.
struct MeshDescriptor {
  ExecutorId executor{};
  std::uint32_t slot_bytes = 0;
  std::uint32_t credits = 0;
  std::vector<Exposure> exposures;  ///< at most one of each kind

  bool operator==(const MeshDescriptor&) const = default;

  /// Letters, digits, blanks and - . : [ ] only.
  std::string Encode() const;
  /// InvalidArgument says which field is missing, no number, or out of range.
  static absl::StatusOr<MeshDescriptor> Decode(std::string_view text);
};

}  // namespace glaive::rdma
