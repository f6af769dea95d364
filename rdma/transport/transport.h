// Transport: how an executor exposes memory to its peers and writes into theirs.
//
// One instance per executor and kind, used by the executor's thread alone (by another one before, for set-up, and once
// the executor has ended). Set-up: Expose the memory that peers will write, publish the descriptors, Attach theirs,
// Register the memory of send segments, and Connect to peers until PollConnecting finds no peer missing. Then post
// through the queue pairs, Flush, and poll completions. Nothing blocks.
//
//   T1 Memory exposed or attached stays valid until the transport is destroyed. Over `local` a peer must have stopped
//      writing by then; over `shm` it keeps its own mapping.
//   T2 PollCompletions reports signaled writes of all queue pairs, each once, those of one queue pair in order; writes
//      that failed also if they were not signaled.
//   T3 Posted writes may stay here until Flush.
//   T4 PollArrivals reports the immediate values of all peers, each once, those of one queue pair in order (Q2).
//
//   auto transport = MakeTransport(TransportKind::kShm, options);
//   absl::StatusOr<ExposedRegion> rings = (*transport)->Expose(1 << 20);
//   ... exchange descriptors ...
//   absl::StatusOr<RemoteRegion> ring = (*transport)->Attach(peer_descriptor);
//   absl::StatusOr<QueuePair*> qp = (*transport)->Connect(ExecutorId{1}, peer_endpoint);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/arrival.h"
#include "rdma/transport/descriptors.h"
#include "rdma/transport/queue_pair.h"
#include "rdma/transport/transport_options.h"

namespace glaive::rdma {

/// Local memory that peers may write; zeroed at first. The descriptor may name more: what a transport has beside it.
struct ExposedRegion {
  std::span<std::byte> memory;
  RegionDescriptor descriptor;
  PageKind pages = PageKind::kBase;
};

/// How a signaled write ended.
enum class WriteStatus : std::uint8_t {
  kDone,
  kPeerUnreachable,  ///< retries were exceeded, or the queue pair was taken down
  kRefused,          ///< the peer's side does not allow the access
};

/// "done", "peer unreachable" or "refused by the peer".
const char* Name(WriteStatus status);

/// The end of a signaled write.
struct Completion {
  std::uint64_t wr_id = 0;
  WriteStatus status = WriteStatus::kDone;
};

/// See the head of this file.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual TransportKind kind() const = 0;
  const char* name() const { return Name(kind()); }

  /// What peers pass to Connect.
  virtual EndpointDescriptor endpoint() const = 0;

  /// Sets up `size_bytes` of zeroed memory for peers to write. ResourceExhausted when there is not enough.
  virtual absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) = 0;

  /// Prepares memory for writes to be sent from; it must outlive the transport's use of it.
  virtual absl::StatusOr<LocalKey> Register(std::span<std::byte> memory) = 0;

  /// Makes a peer's exposed memory writable. The error names what the descriptor promised and what was found.
  virtual absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) = 0;

  /// The queue pair to `peer`, another executor or this one; it stays the transport's. It serves the channels to all
  /// executors of the peer's node, and takes writes when PollConnecting no longer names that node.
  virtual absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) = 0;

  /// The node of a peer that was to be connected and is not yet; none when all are. Call it again and again: it does
  /// the work, also while the ends of peers do not stand yet: one of them may have to connect again, which this end
  /// then has to accept. Unavailable says which peer cannot be connected and why; any other error has its cause on this
  /// host.
  virtual absl::StatusOr<std::optional<NodeId>> PollConnecting() = 0;

  /// Hands over to the device what was posted.
  virtual void Flush() = 0;

  /// Takes up to completions.size() completions; says how many.
  virtual std::size_t PollCompletions(std::span<Completion> completions) = 0;

  /// How messages of peers are noticed.
  virtual Arrival arrival() const = 0;

  /// Takes up to immediates.size() immediate values that have arrived for this executor; says how many. None but for
  /// kImmediate. Over verbs it hands on those for other executors of the node, also when it returns 0.
  virtual std::size_t PollArrivals(std::span<std::uint32_t> immediates) = 0;

  /// Immediate values that PollArrivals has handed on to other executors of the node so far.
  virtual std::uint64_t handed_on() const { return 0; }

  /// Whether a signaled write costs no more than an unsignaled one, so that every message can be signaled and its
  /// segment returns at once.
  virtual bool SignalingIsFree() const = 0;

  /// Whether the memory of a completed write may be overwritten. Else only the peer's word that it has consumed what
  /// was written says so.
  virtual bool CompletionFreesMemory() const { return true; }

  /// Once connections stand: whether the device says that it may place the bytes of a connection out of order.
  virtual bool PlacesOutOfOrder() const { return false; }

  /// What has broken since the last call; each connection is reported once. Unavailable: a connected peer is gone, and
  /// the message names it. Any other error has its cause on this host. May be a system call: not for every turn.
  virtual absl::Status PollFailure() = 0;
};

/// A transport of the given kind. Only verbs can fail: see VerbsTransport::Create.
absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(TransportKind kind, const TransportOptions& options);

}  // namespace glaive::rdma
