// Network: a simulated RDMA network: one-sided writes between the transports of all nodes, in virtual time.
//
// Its writes do all that the verbs specification and real devices allow. Messages of a queue pair are in order, and
// those of several are not. The source's memory is read when a write is delivered, not when it is posted. A write
// arrives in pieces: in the order of addresses, or with `any_order` in any order, mixed with those of later writes.
// Completions come later, and free places of the send queue with them. Where a complete write may not be in place yet
// (over iWARP, and for memory with relaxed ordering), counts of credits may be placed late, and older ones after newer
// ones, as long as each is in place in time (`latest_count_ns`). An immediate value arrives when all bytes of its
// write and of those before it are in place. Memory is checked as a NIC checks it: a write goes where its key says, or
// the run is wrong.
//
//   Network network(options, time, Random(seed, Purpose::kNetwork), observer);
//   auto transport = network.MakeTransport(NodeId{0}, kind, transport_options);
//   while (network.Deliver()) {}
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/memory/page_region.h"
#include "rdma/transport/transport.h"
#include "tests/sim/random.h"
#include "tests/sim/virtual_time.h"

namespace glaive::sim {

struct NetworkOptions {
  std::int64_t latency_ns = 0;
  std::int64_t jitter_ns = 0;  ///< added to it, at most
  std::int64_t completion_ns = 0;
  std::size_t piece_bytes = 64;  ///< a power of two, at least 8
  bool any_order = false;        ///< of the bytes that a queue pair places
  bool signaling_is_free = false;
  bool completion_frees_memory = true;  ///< else a write is complete before it has arrived
  std::int64_t latest_count_ns = 0;     ///< that a count of credits takes to its place once it has arrived; 0: none
  double full_queue = 0;                ///< how often a post finds the queue full
  std::int64_t retries_ns = 0;          ///< after which a write that nobody answers breaks its queue pair
};

/// What a host does not grant.
struct Refusals {
  bool rings = false;
  bool registration = false;
};

/// Told of what the network does.
class NetworkObserver {
 public:
  virtual ~NetworkObserver() = default;
  /// `arrived` of a write's `length` bytes lie at `address` now.
  virtual void OnArrival(NodeId from, NodeId to, std::size_t arrived, std::size_t length) = 0;
  /// A write that no NIC would carry out, or that was posted against the rules.
  virtual void OnViolation(const std::string& what) = 0;
};

class SimTransport;
class SimQueuePair;

class Network {
 public:
  /// `time` and `observer` outlive the network, which outlives its transports.
  Network(const NetworkOptions& options, const VirtualTime& time, Random random, NetworkObserver& observer);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// `refusals`: what fails for want of resources.
  std::unique_ptr<rdma::Transport> MakeTransport(rdma::TransportKind kind, const rdma::TransportOptions& options,
                                                 const Refusals& refusals);

  /// Lets a piece of some write arrive that is due. False: none is.
  bool Deliver();
  /// When there will be something to do or to see for somebody; kNever: not by itself.
  std::int64_t NextDueNs() const;

  /// A piece of old bytes is placed over the last ones of `length` at `offset` of what `receiver` exposes to other
  /// hosts.
  void PlaceLate(ExecutorId receiver, std::size_t offset, std::size_t length);

  /// Counts of credits that were placed over newer ones.
  std::uint64_t overwritten_counts() const { return overwritten_counts_; }

  /// The node's process is gone: nothing of it moves any more. `quietly`: nor does anybody hear of it before the
  /// retries of writes to it are exceeded.
  void Kill(NodeId node, bool quietly);
  /// The queue pairs between the two fail.
  void Break(NodeId a, NodeId b);
  /// Nothing passes between the two until then; beyond the retries' time that breaks their queue pairs.
  void Hold(NodeId a, NodeId b, std::int64_t until_ns);

 private:
  friend class SimTransport;
  friend class SimQueuePair;

  struct Region {
    SimTransport* owner = nullptr;
    std::span<std::byte> memory;
  };

  /// A count of credits that has arrived, and the latest time at which it is placed.
  struct Count {
    std::uint32_t key = 0;
    std::uint64_t address = 0;
    std::uint64_t count = 0;
    std::int64_t due_ns = 0;
  };

  bool MayBeLate(const rdma::WriteRequest& request) const;
  void TakeCount(const Count& count);
  void Place(const Count& count);
  void DeliverPiece(SimQueuePair& queue_pair);
  void CompleteArrived(SimQueuePair& queue_pair);
  void Remove(SimTransport& transport);
  bool IsDead(NodeId node) const { return dead_.contains(node); }
  std::int64_t HeldUntil(NodeId a, NodeId b) const;
  SimTransport* ReceiverOfImmediate(const SimQueuePair& queue_pair, std::uint32_t key) const;
  std::optional<std::string> WhyNotWritable(const SimQueuePair& queue_pair, std::uint32_t key, std::uint64_t address,
                                            std::size_t length) const;

  NetworkOptions options_;
  const VirtualTime* time_;
  Random random_;
  NetworkObserver* observer_;
  std::vector<SimTransport*> transports_;    // by number; null once gone
  std::map<std::uint32_t, Region> regions_;  // by key
  std::uint32_t next_key_ = 1;
  std::set<NodeId> dead_;
  std::set<NodeId> silent_;  // of those
  std::map<std::pair<NodeId, NodeId>, std::int64_t> held_;
  std::set<std::pair<NodeId, NodeId>> broken_;
  std::vector<SimQueuePair*> queue_pairs_;  // in the order of their making
  std::vector<Count> late_counts_;          // in the order of their arrival
  std::uint64_t overwritten_counts_ = 0;
};

}  // namespace glaive::sim
