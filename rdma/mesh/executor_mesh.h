// ExecutorMesh: all channels of one executor: one to and one from every other executor of the run.
//
// Set-up has two phases. Prepare maps the segment pool and the inbound rings; its descriptor is published to all
// others. Connect takes the descriptors of all executors and makes the channels (paper section 6.2, setup phase).
// Set-up may run on any thread. The executor's own is best, because memory then lies on its socket. Afterwards the mesh
// is used by its executor's thread alone, and by main once all executors of the node have ended. There is no state
// outside the object: several nodes can live in one process.
//
//   Executor i of a node has one queue pair per peer node, with executor i there. It uses the queue pair for the
//   channels to all executors of that node. Over verbs with Arrival::kImmediate the executors of a node hand immediate
//   values on to one another (node_arrivals.h), so each is polled until all of them have ended. PollProbes sends one
//   full slot through each queue pair of a device (message_probes.h). A mesh of one executor has no rings; its pool
//   still has segments. Destroy meshes when all executors of the process have stopped using theirs: over `local` peers
//   write into each other's memory directly.
//
// Channels with messages are served in turn: Poll notices arrivals, and NextArrival hands out one channel after the
// other.
//
// Where bytes of a slot's last use may be placed late (channel_receiver.h), all receivers copy messages into one slot
// of the mesh. So the caller releases a message before it receives the next one. An executor publishes whether its
// memory is of that kind; to such peers Poll writes the last count of credits again now and then.
//
// Costs: Poll reads the completion queues, and two cache lines for each peer whose messages are polled, and the clock
// if credits of such a peer may be late. It makes no system call. With Arrival::kImmediate, peers that send nothing
// cost nothing.
//
//   auto mesh = ExecutorMesh::Prepare(options, 64);
//   ... publish (*mesh)->descriptor(), gather all ...
//   absl::Status connected = (*mesh)->Connect(all);
//   (*mesh)->sender(ExecutorId{1}).TrySend(...);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/base/steady_clock.h"
#include "rdma/base/watch.h"
#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/mesh/mesh_descriptor.h"
#include "rdma/mesh/mesh_layout.h"
#include "rdma/mesh/mesh_options.h"
#include "rdma/mesh/message_probes.h"
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

  /// Takes the pages of the rings from the system, on the NUMA node of this thread's processor: else over `local` and
  /// `shm` each page lies where the peer runs that writes it first. Before the descriptor is published.
  absl::Status PrefaultRings(const Watch& watch) const;

  /// What the other executors need for their Connect.
  MeshDescriptor descriptor() const;

  /// Makes the channels. `all` holds one descriptor of every executor of the run, in any order, this one's included.
  /// The error names the executor whose descriptor is missing, does not match or cannot be attached. Call it once.
  absl::Status Connect(std::span<const MeshDescriptor> all);

  /// A node whose queue pair does not stand yet; none when all channels can be used. To be called until then: see
  /// Transport::PollConnecting.
  absl::StatusOr<std::optional<NodeId>> PollConnecting();
  /// Once the queue pairs of all nodes stand, and before any message: a node that the first message of full size has
  /// not reached yet; none when it has reached all. To be called until then: see MessageProbes::Poll.
  absl::StatusOr<std::optional<NodeId>> PollProbes();

  SegmentPool& segments() { return segments_; }
  /// The channel to `peer`, another executor; only after Connect.
  ChannelSender& sender(ExecutorId peer);
  /// The channel from `peer`, another executor; only after Connect.
  ChannelReceiver& receiver(ExecutorId peer);

  /// Takes in completions, arrivals and returned credits of all channels; segments come back to the pool. The error of
  /// a failed channel, now and ever after. To be called for as long as peers may wait for credits.
  absl::Status Poll();

  /// Channels with a message that was not received, or an error, as of the last Poll.
  std::size_t arrivals() const { return arrivals_.size(); }
  /// The next of them, in turn. The caller receives one message of it. If it has more, the next call or Poll lists it
  /// again.
  ChannelReceiver& NextArrival();
  /// To be called in each round of an executor that has nothing to receive. Returns the credits that a receiver of
  /// NextArrival holds back once kPatientRounds calls have brought no message for it: a message that comes meanwhile
  /// may return them with its own. False: some are still held back.
  bool FlushCredits();
  static constexpr std::uint8_t kPatientRounds = 8;

  /// Whether Poll hands immediate values on to other executors of the node, which then wait for its next call.
  bool hands_on() const;
  /// Immediate values that Poll has handed on to other executors of the node so far.
  std::uint64_t handed_on() const;

  /// Messages sent whose segment has not returned yet, of all channels.
  std::uint32_t in_flight() const;

  /// Gives the device the writes that channels have posted: messages and credits. Once a round, behind the fibers.
  void Flush();

  /// Once queue pairs stand: see Transport::PlacesOutOfOrder.
  bool PlacesOutOfOrder() const;

  /// What has broken since the last call: see Transport::PollFailure. A system call or two: not for every round.
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
    std::vector<QueuePair*> queue_pairs;  // by the executor at the other end, where there is one
    std::vector<std::uint16_t> channels;  // the indices of its senders and receivers
    MessageProbes probes;                 // of those that go through a device
  };

  ExecutorMesh(const MeshOptions& options, ChannelPlan plan, SegmentPool segments);

  absl::Status OpenPort(Fabric& fabric, TransportKind kind);
  TransportOptions PortOptions(TransportKind kind) const;
  absl::Status MapCopySlot();
  bool MayBeLate(const Transport& transport) const;
  Port& PortOver(TransportKind kind);
  absl::Status CheckDescriptor(const MeshDescriptor& there);
  absl::StatusOr<QueuePair*> ConnectQueuePair(Port& port, ExecutorId other_end,
                                              std::span<const MeshDescriptor* const> by_executor);
  absl::Status ConnectTo(ExecutorId peer, std::span<const MeshDescriptor* const> by_executor);
  void PollCompletions(Port& port);
  void PollImmediates(Port& port);
  void PollMemory(Port& port);
  void RepeatCredits(std::int64_t now_ns);
  void OnImmediate(TransportKind kind, std::uint32_t bits);
  void NoteArrival(std::size_t channel);
  void NoteServed(std::uint16_t channel);
  const Clock& run_clock() const;
  std::size_t ChannelIndex(ExecutorId peer) const;

  MeshOptions options_;
  ChannelPlan plan_;
  SegmentPool segments_;
  std::vector<Port> ports_;                 // one per kind in use
  std::vector<ChannelSender> senders_;      // by executor, this one's left out
  std::vector<ChannelReceiver> receivers_;  // by executor, this one's left out
  std::deque<std::uint16_t> arrivals_;      // receivers with messages, each once
  std::vector<bool> has_arrival_;           // by receiver: it is in arrivals_
  std::optional<std::uint16_t> served_;     // the last of NextArrival, which may have more messages
  std::vector<std::uint16_t> overdue_;      // receivers whose senders may wait for the credits that they hold back
  std::vector<std::uint16_t> repeating_;    // receivers whose peers' memory may show an older count of credits last
  std::vector<std::uint16_t> owing_;        // receivers that may hold back credits, each once
  std::vector<bool> owes_;                  // by receiver: it is in owing_
  std::vector<std::uint8_t> idle_rounds_;   // by receiver: calls of FlushCredits since it was served
  SteadyClock system_clock_;
  std::optional<PageRegion> copy_memory_;  // of copy_slot_, where a transport's messages are copied
  CopySlot copy_slot_;
  absl::Status failure_;  // the first of a channel
};

}  // namespace glaive::rdma
