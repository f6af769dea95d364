// One case of the channel benchmark: its shape, and the meshes of one end of it.
//
// A channel of a case is a mesh of its own at each end, so over verbs it has a queue pair of its own to each peer. Over
// verbs executor 0 receives and all others send to it; over shm and local there is one sender.
//
//   ChannelCase shape = {.kind = TransportKind::kShm, .slot_bytes = 65536, .credits = 8, .channels = 1};
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bench/common/spin.h"
#include "rdma/base/ids.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/mesh/executor_mesh.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {

inline constexpr ExecutorId kReceiver{0};
inline constexpr ExecutorId kFirstSender{1};
inline constexpr std::uint32_t kMaxChannels = 16;

/// The shape of a case. Plain values.
struct ChannelCase {
  rdma::TransportKind kind = rdma::TransportKind::kLocal;
  std::uint32_t slot_bytes = 64 * 1024;
  std::uint32_t credits = 8;
  std::uint32_t channels = 1;                        ///< of each sender
  std::uint32_t senders = 1;                         ///< more than 1 only over verbs
  std::uint32_t segments = 8;                        ///< a channel's, to send from
  std::uint32_t signal_interval = 0;                 ///< see ChannelOptions
  rdma::Arrival arrival = rdma::Arrival::kChecksum;  ///< over verbs
  std::string relaxed_ordering = "auto";             ///< over verbs: see bench/common/ordering.h
  std::uint32_t inline_bytes = 0;                    ///< over verbs: see MeshOptions
  bool read_payload = true;                          ///< whether the receiver reads every byte

  int attempts_before_yield() const { return kind == rdma::TransportKind::kVerbs ? kFabricSpins : 200; }
};

/// One end's, by channel.
using Meshes = std::vector<std::unique_ptr<rdma::ExecutorMesh>>;

/// The meshes of an end, which are not connected yet. Each has a key of its own, which follows from `run_key`. `device`
/// for verbs.
Meshes PrepareMeshes(const ChannelCase& shape, ExecutorId self, const rdma::RunKey& run_key,
                     std::shared_ptr<rdma::VerbsDevice> device);

/// The descriptors of an end's meshes, a line each.
std::string DescribeMeshes(const Meshes& meshes);

/// Whether all connections of an end stand.
absl::StatusOr<bool> PollMeshes(const Meshes& meshes);

/// For an end that waits for other things, while its peers may still wait for credits.
absl::Status PollChannels(const Meshes& meshes);

/// Connects an end to all others; `descriptions` are of DescribeMeshes, by executor. Waits until its connections stand:
/// over verbs those of other ends may still come about (bench/common/await_all_ends.h).
void ConnectMeshes(const ChannelCase& shape, std::span<const std::string> descriptions, Meshes& meshes);

}  // namespace glaive::bench
