// VerbsConnector: makes and watches the connections of one executor to its equals on the other nodes, by rdma_cm.
//
// Of two nodes the one with the lower number listens and the other connects (rdma_cm knows no third way); an executor
// can also connect to itself, for runs of one node that are to exercise the device. Each end shows the other a
// ConnectMessage; who cannot show the token of this very pair is turned away and learns nothing. Nothing blocks: Poll
// handles the events that have come. Owned by a VerbsTransport, which also owns the completion queue and outlives the
// connector by it.
//
//   auto connector = VerbsConnector::Listen(config);
//   (*connector)->Start(NodeId{1}, queue_pair, "10.0.0.2:40123");
//   while ((*connector)->Unconnected()) { if (absl::Status failure = (*connector)->Poll(); !failure.ok()) ...; }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/transport/transport_options.h"
#include "rdma/verbs/verbs_queue_pair.h"

struct ibv_cq;
struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_event_channel;

namespace glaive::rdma {

/// See the head of this file.
class VerbsConnector {
 public:
  /// Listens at a free port of the device's address. `options.device` must be there.
  static absl::StatusOr<std::unique_ptr<VerbsConnector>> Listen(const TransportOptions& options, ibv_cq* completions);

  VerbsConnector(const VerbsConnector&) = delete;
  VerbsConnector& operator=(const VerbsConnector&) = delete;
  /// Takes all connections down; their peers see it.
  ~VerbsConnector();

  /// Where peers connect to, "10.0.0.1:40123".
  const std::string& address() const { return address_; }

  /// Begins the connection to `peer`, which listens at `address`; `queue_pair` is activated when it stands.
  absl::Status Start(NodeId peer, VerbsQueuePair* queue_pair, const std::string& address);

  /// Handles what has happened. A connection that could not be made or has come down, each once: Unavailable when the
  /// peer or the network is to blame, any other error has its cause on this host.
  absl::Status Poll();

  /// A peer whose connection was begun and does not stand yet.
  std::optional<NodeId> Unconnected() const;

 private:
  struct Connection {
    NodeId peer{};
    rdma_cm_id* id = nullptr;
    VerbsQueuePair* queue_pair = nullptr;  // once Start was called
    std::string address;                   // the peer's, for messages
    bool established = false;
    bool failed = false;
  };

  VerbsConnector(const TransportOptions& options, ibv_cq* completions);

  absl::Status Bind();
  absl::Status CreateQueuePair(rdma_cm_id* id) const;
  absl::Status Handle(const rdma_cm_event& event);
  absl::Status OnEvent(Connection& connection, const rdma_cm_event& event);
  absl::Status OnRouteResolved(const Connection& connection);
  absl::Status OnRequest(const rdma_cm_event& event);
  absl::Status Accept(Connection& connection, rdma_cm_id* id);
  absl::Status OnEstablished(Connection& connection, const rdma_cm_event& event);
  absl::Status Fail(Connection& connection, const absl::Status& reason);
  Connection* Find(const rdma_cm_id* id);
  Connection& ListeningEnd(NodeId from) { return from == options_.node ? loopback_ : connections_[Value(from)]; }
  bool Accepts(const rdma_cm_event& event, NodeId& from);

  TransportOptions options_;
  ibv_cq* completions_;
  rdma_event_channel* events_ = nullptr;
  rdma_cm_id* listener_ = nullptr;
  std::string address_;
  std::vector<Connection> connections_;  // by node
  Connection loopback_;                  // the listening end of this executor's connection to itself
};

}  // namespace glaive::rdma
