// ExecutorMesh: all channels of one executor: one to and one from every other executor of the run.
//
// Set-up has two phases. Prepare maps the segment pool and the inbound rings; its descriptor is published to all
// others. Connect takes the descriptors of all executors and makes the channels (paper section 6.2, setup phase).
// Set-up may run on any thread, for instance for all executors from main; afterwards the mesh is used by its executor's
// thread alone, and once that executor has ended by main again. There is no state outside the object: several nodes can
// live in one process.
//
//   Executor i of a node has one queue pair per peer node and uses it for the channels to all executors there.
//   A mesh of one executor has no rings; its pool still has segments.
//   Destroy meshes when all executors of the process have stopped using theirs: over `local` peers write into each
//   other's memory directly.
//
// Costs: Poll reads one cache line per peer and the completion queue; it makes no system call.
//
//   auto mesh = ExecutorMesh::Prepare(options, 64);
//   ... publish (*mesh)->descriptor(), gather all ...
//   absl::Status connected = (*mesh)->Connect(all);
//   (*mesh)->sender(ExecutorId{1}).TrySend(...);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/mesh/mesh_descriptor.h"
#include "rdma/mesh/mesh_layout.h"
#include "rdma/mesh/mesh_options.h"
#include "rdma/transport/fabric.h"
#include "rdma/transport/transport.h"

namespace glaive::rdma {

/// A piece of memory of a mesh, for the memory plan and the results.
struct RegionReport {
  std::string what;  ///< "send segments", "rings over shm", ...
  std::size_t size_bytes = 0;
  PageKind pages = PageKind::kBase;
};

/// See the head of this file.
class ExecutorMesh {
 public:
  /// Maps `send_segment_count` segments (at least 1) and the inbound rings, shrunk to the budget. InvalidArgument for
  /// settings that make no sense; ResourceExhausted for too little memory.
  static absl::StatusOr<std::unique_ptr<ExecutorMesh>> Prepare(const MeshOptions& options,
                                                               std::uint32_t send_segment_count);

  /// What the other executors need for their Connect.
  MeshDescriptor descriptor() const;

  /// Makes the channels. `all` holds one descriptor of every executor of the run, in any order, this one's included.
  /// The error names the executor whose descriptor is missing, does not match or cannot be attached. Call it once.
  absl::Status Connect(std::span<const MeshDescriptor> all);

  /// A node whose queue pair does not stand yet; none when all channels can be used. To be called until then: see
  /// Transport::PollConnecting.
  absl::StatusOr<std::optional<NodeId>> PollConnecting();

  SegmentPool& segments() { return segments_; }
  /// The channel to `peer`, another executor; only after Connect.
  ChannelSender& sender(ExecutorId peer);
  /// The channel from `peer`, another executor; only after Connect.
  ChannelReceiver& receiver(ExecutorId peer);

  /// Takes in completions and returned credits of all channels; segments come back to the pool. The error of a failed
  /// channel, now and ever after.
  absl::Status Poll();

  /// Sends off what channels have posted: messages and credits. Once a turn.
  void Flush();

  /// What has broken since the last call: see Transport::PollFailure. A system call or two: not for every turn.
  absl::Status PollFailure();

  const MeshOptions& options() const { return options_; }
  /// The channels as planned: credits may be fewer than asked for.
  const ChannelOptions& channel() const { return plan_.channel; }
  /// What had to be given up to fit the ring budget, for people; empty: nothing.
  const std::string& plan_note() const { return plan_.note; }
  /// Bytes of this executor's inbound rings.
  std::size_t ring_bytes() const;
  /// Every region of this mesh with its size and kind of page.
  std::vector<RegionReport> regions() const;

 private:
  /// A transport and what is exposed through it.
  struct Port {
    std::unique_ptr<Transport> transport;
    MeshLayout layout;
    ExposedRegion exposed;
    LocalKey segments_key{};
    std::vector<QueuePair*> queue_pairs;  // by node, as far as reached by this kind
  };

  ExecutorMesh(const MeshOptions& options, ChannelPlan plan, SegmentPool segments);

  absl::Status OpenPort(Fabric& fabric, TransportKind kind);
  TransportOptions PortOptions(TransportKind kind) const;
  Port& PortTo(ExecutorId peer);
  absl::Status CheckDescriptor(const MeshDescriptor& there) const;
  absl::StatusOr<QueuePair*> QueuePairTo(Port& port, NodeId node, std::span<const MeshDescriptor* const> by_executor);
  absl::Status ConnectTo(ExecutorId peer, std::span<const MeshDescriptor* const> by_executor);
  std::size_t ChannelIndex(ExecutorId peer) const;

  MeshOptions options_;
  ChannelPlan plan_;
  SegmentPool segments_;
  std::vector<Port> ports_;                 // one per kind in use
  std::vector<ChannelSender> senders_;      // by executor, this one's left out
  std::vector<ChannelReceiver> receivers_;  // by executor, this one's left out
};

}  // namespace glaive::rdma
