// VerbsConnector: makes and watches the connections of one executor to others, by rdma_cm.
//
// Of two executors the one with the lower number listens and the other connects, as rdma_cm requires. An executor can
// also connect to itself, for runs of one node that are to exercise the device. Each end sends the other a
// ConnectMessage. A stranger without the token of this very pair is rejected and learns nothing. Nothing blocks: Poll
// handles the events that have come. Owned by a VerbsTransport, which also owns the completion queue. The queue
// outlives the connector.
//
// The connecting end tries a failed connection again, with growing pauses, until the device's join_timeout is over. An
// attempt that is not answered is given up before (connect_retries.h). While the device's port is down no attempt is
// begun. The listening end drops its state of a failed attempt. After StopListening no executor can connect any more.
//
// Over iWARP the listening end stands before the connecting one, whose attempt may still fail. So PollConnecting lets a
// listening end that is disconnected wait for the next attempt. Call it until the peers' ends stand, too, and Poll
// then.
//
//   auto connector = VerbsConnector::Listen(config);
//   (*connector)->Start(ExecutorId{1}, queue_pair, "10.0.0.2:40123");
//   while ((*connector)->Unconnected()) {
//     if (absl::Status failure = (*connector)->PollConnecting(); !failure.ok()) ...;
//   }
//   (*connector)->StopListening();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/address.h"
#include "rdma/base/ids.h"
#include "rdma/base/steady_clock.h"
#include "rdma/transport/transport_options.h"
#include "rdma/verbs/connect_message.h"
#include "rdma/verbs/connect_retries.h"
#include "rdma/verbs/receive_queue.h"
#include "rdma/verbs/thread_domain.h"
#include "rdma/verbs/verbs_queue_pair.h"

struct ibv_cq;
struct rdma_cm_id;
struct rdma_event_channel;

namespace glaive::rdma {

/// See the head of this file.
class VerbsConnector {
 public:
  /// Listens at a free port of the device's address. `options.device` must be there. Queue pairs are made with
  /// `domain`. `receives` is null but for Arrival::kImmediate. All outlive it.
  static absl::StatusOr<std::unique_ptr<VerbsConnector>> Listen(const TransportOptions& options,
                                                                const ThreadDomain& domain, ibv_cq* completions,
                                                                const ReceiveQueue* receives);

  VerbsConnector(const VerbsConnector&) = delete;
  VerbsConnector& operator=(const VerbsConnector&) = delete;
  /// Takes all connections down; their peers see it.
  ~VerbsConnector();

  /// Where peers connect to, "10.0.0.1:40123".
  const std::string& address() const { return address_; }

  /// Begins the connection to `peer`, which listens at `address`; `queue_pair` is activated when it stands.
  absl::Status Start(ExecutorId peer, VerbsQueuePair* queue_pair, const std::string& address);

  /// Handles what has happened while connections are made. A connection that could not be made or has come down, each
  /// once, or the device's own failure, once: Unavailable when the peer or the network is to blame, any other error has
  /// its cause on this host.
  absl::Status PollConnecting();
  /// The same in mid-run, when a port that is down is a failure, too. `writes_have_failed` of some queue pair here, for
  /// which the device may be the cause.
  absl::Status Poll(bool writes_have_failed);

  /// Once all connections stand: closes the port at which this executor listens.
  void StopListening();

  /// Who is at the other end of the connection whose queue pair has this number here; none if it does not stand.
  std::optional<ExecutorId> ExecutorAt(std::uint32_t queue_pair) const;

  /// The node of a peer whose connection was begun and does not stand yet.
  std::optional<NodeId> Unconnected() const;

 private:
  struct Connection {
    ExecutorId peer{};
    rdma_cm_id* id = nullptr;
    VerbsQueuePair* queue_pair = nullptr;  // once Start was called
    std::string address;                   // the peer's, for messages
    SocketAddress there;                   // the same, resolved, where this end connects
    ConnectRetries retries;
    bool established = false;
    bool failed = false;
  };
  struct Event;

  VerbsConnector(const TransportOptions& options, const ThreadDomain& domain, ibv_cq* completions,
                 const ReceiveQueue* receives);

  absl::Status Bind();
  absl::Status CreateQueuePair(rdma_cm_id* id) const;
  absl::Status PollConnections(absl::Status device_failure);
  absl::Status ReportDevice(absl::Status failure);
  absl::Status Handle(const Event& event);
  absl::Status OnEvent(Connection& connection, const Event& event);
  absl::Status OnRouteResolved(Connection& connection);
  absl::Status OnRequest(const Event& event);
  absl::Status Accept(const Connection& connection);
  absl::Status OnEstablished(Connection& connection, const Event& event);
  absl::Status Attempt(Connection& connection);
  absl::Status AttemptDue();
  bool IsProvisional(const Connection& connection) const;
  void Withdraw(Connection& connection);
  absl::Status OnFailure(Connection& connection, const absl::Status& reason);
  void NoteFailure(Connection& connection, const absl::Status& reason);
  absl::Status Fail(Connection& connection, const absl::Status& reason);
  Connection* Find(const rdma_cm_id* id);
  Connection& ListeningEnd(ExecutorId from) {
    return from == options_.executor ? loopback_ : connections_[Value(from)];
  }
  bool Connects(const Connection& connection) const {
    return &connection != &loopback_ && connection.peer <= options_.executor;
  }
  ConnectMessage MessageTo(ExecutorId peer) const;
  std::uint64_t TokenOf(ExecutorId peer) const;
  bool Accepts(const Event& event, ExecutorId& from);

  TransportOptions options_;
  const ThreadDomain* domain_;
  ibv_cq* completions_;
  const ReceiveQueue* receives_;
  rdma_event_channel* events_ = nullptr;
  rdma_cm_id* listener_ = nullptr;
  std::string address_;
  std::vector<Connection> connections_;  // by executor
  Connection loopback_;                  // the listening end of this executor's connection to itself
  absl::flat_hash_map<std::uint32_t, ExecutorId> executors_;  // by the queue pair's number, once it is connected
  SocketAddress here_;                                        // the device's address, at any port
  bool are_made_ = false;                                     // all ends stand: Poll was called
  bool device_failed_ = false;                                // its failure was reported
  SteadyClock clock_;
};

}  // namespace glaive::rdma
