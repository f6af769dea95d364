#include "rdma/verbs/verbs_connector.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rdma/base/address.h"
#include "rdma/base/check.h"
#include "rdma/verbs/connect_message.h"
#include "rdma/verbs/locked_memory.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {
namespace {

constexpr int kResolveMillis = 4'000;
constexpr std::uint8_t kRetries = 7;  // the most there is; how long each waits is the device's ack time-out

// InfiniBand Architecture Specification, volume 1, table 107 (reasons of a REJ message).
constexpr int kRejectedStaleConnection = 10;

constexpr char kOneNetwork[] =
    "both addresses must be in one RDMA network: try rping between them, or choose others with --bind or --device";

std::string RejectedReason(int status) {
  if (status == kRejectedStaleConnection) {
    return "the connection was refused: the device there still holds one of the same number, of a run that has just "
           "ended; start again";
  }
  return absl::StrCat("the connection was refused (status ", status,
                      "): no node of this run listens there, or it has no queue pair left; its own message says more");
}

rdma_conn_param ConnectParameters(const ConnectMessage& message) {
  rdma_conn_param parameters{};
  parameters.private_data = &message;
  parameters.private_data_len = sizeof(message);
  parameters.responder_resources = 1;
  parameters.initiator_depth = 1;
  parameters.retry_count = kRetries;
  parameters.rnr_retry_count = kRetries;
  return parameters;
}

std::span<const std::byte> PrivateData(const rdma_cm_event& event) {
  const rdma_conn_param& connection = event.param.conn;
  if (connection.private_data == nullptr) return {};
  return {static_cast<const std::byte*>(connection.private_data), connection.private_data_len};
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerbsConnector>> VerbsConnector::Listen(const TransportOptions& options,
                                                                       ibv_cq* completions) {
  std::unique_ptr<VerbsConnector> connector(new VerbsConnector(options, completions));
  if (absl::Status status = connector->Bind(); !status.ok()) return status;
  return connector;
}

VerbsConnector::VerbsConnector(const TransportOptions& options, ibv_cq* completions)
    : options_(options), completions_(completions), connections_(options.node_count) {
  for (std::uint32_t node = 0; node < options.node_count; ++node) connections_[node].peer = NodeId{node};
  loopback_.peer = options.node;
}

VerbsConnector::~VerbsConnector() {
  connections_.push_back(loopback_);
  for (Connection& connection : connections_) {
    if (connection.queue_pair != nullptr) connection.queue_pair->Deactivate();
    if (connection.id == nullptr) continue;
    if (connection.established) rdma_disconnect(connection.id);
    if (connection.id->qp != nullptr) rdma_destroy_qp(connection.id);
    rdma_destroy_id(connection.id);
  }
  if (listener_ != nullptr) rdma_destroy_id(listener_);
  if (events_ != nullptr) rdma_destroy_event_channel(events_);
}

absl::Status VerbsConnector::Bind() {
  const std::string& host = options_.device->info().address;
  const auto failed = [&](const char* what) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: cannot listen at ", host, ": ", what, ": ", strerror(errno)));
  };
  events_ = rdma_create_event_channel();
  if (events_ == nullptr) return failed("rdma_create_event_channel");
  if (fcntl(events_->fd, F_SETFL, fcntl(events_->fd, F_GETFL) | O_NONBLOCK) != 0) return failed("fcntl");
  if (rdma_create_id(events_, &listener_, nullptr, RDMA_PS_TCP) != 0) return failed("rdma_create_id");
  absl::StatusOr<std::vector<SocketAddress>> where = ResolveAddress(host, 0);
  if (!where.ok()) return where.status();
  if (rdma_bind_addr(listener_, reinterpret_cast<sockaddr*>(&where->front().storage)) != 0) {
    return failed("rdma_bind_addr");
  }
  if (rdma_listen(listener_, static_cast<int>(options_.node_count)) != 0) return failed("rdma_listen");
  address_ = FormatHostPort(host, ntohs(rdma_get_src_port(listener_)));
  return absl::OkStatus();
}

absl::Status VerbsConnector::Start(NodeId peer, VerbsQueuePair* queue_pair, const std::string& address) {
  GLAIVE_CHECK(Value(peer) < options_.node_count, "node ", Value(options_.node), " connects to node ", Value(peer),
               " of ", options_.node_count);
  Connection& connection = connections_[Value(peer)];
  GLAIVE_CHECK(connection.queue_pair == nullptr, "node ", Value(peer), " is connected already");
  connection.queue_pair = queue_pair;
  connection.address = address;
  if (connection.established) queue_pair->Activate(connection.id->qp);
  if (options_.node < peer) return absl::OkStatus();

  const absl::StatusOr<HostPort> parts = ParseHostPort(address);
  if (!parts.ok()) return parts.status();
  absl::StatusOr<std::vector<SocketAddress>> there = ResolveAddress(parts->host, parts->port);
  absl::StatusOr<std::vector<SocketAddress>> here = ResolveAddress(options_.device->info().address, 0);
  if (!there.ok()) return there.status();
  if (!here.ok()) return here.status();
  if (rdma_create_id(events_, &connection.id, nullptr, RDMA_PS_TCP) != 0 ||
      rdma_resolve_addr(connection.id, reinterpret_cast<sockaddr*>(&here->front().storage),
                        reinterpret_cast<sockaddr*>(&there->front().storage), kResolveMillis) != 0) {
    return absl::UnavailableError(absl::StrCat("transport verbs: cannot connect to node ", Value(peer), " at ", address,
                                               " from ", options_.device->info().Describe(), ": ", strerror(errno),
                                               "; ", kOneNetwork));
  }
  return absl::OkStatus();
}

absl::Status VerbsConnector::CreateQueuePair(rdma_cm_id* id) const {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions_;
  attributes.recv_cq = completions_;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = options_.queue_depth;
  attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = VerbsQueuePair::kInlineBytes;
  if (rdma_create_qp(id, options_.device->protection_domain(), &attributes) == 0) return absl::OkStatus();
  const int error = errno;
  return absl::ResourceExhaustedError(absl::StrCat("cannot make a queue pair of ", options_.queue_depth,
                                                   " work requests: ", strerror(error),
                                                   "; use fewer --executors or --credits", LockedMemoryHint(error)));
}

absl::Status VerbsConnector::Poll() {
  rdma_cm_event* next = nullptr;
  while (rdma_get_cm_event(events_, &next) == 0) {
    absl::Status status = Handle(*next);
    rdma_ack_cm_event(next);
    if (!status.ok()) return status;
  }
  if (errno == EAGAIN || errno == EINTR) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("transport verbs: the connection manager of ", options_.device->info().device,
                                          " no longer answers: ", strerror(errno),
                                          "; was its kernel module unloaded?"));
}

absl::Status VerbsConnector::Handle(const rdma_cm_event& event) {
  if (event.event == RDMA_CM_EVENT_CONNECT_REQUEST) return OnRequest(event);
  Connection* const connection = Find(event.id);
  if (connection == nullptr || connection->failed) return absl::OkStatus();
  const absl::Status status = OnEvent(*connection, event);
  return status.ok() ? status : Fail(*connection, status);
}

absl::Status VerbsConnector::OnEvent(Connection& connection, const rdma_cm_event& event) {
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (rdma_resolve_route(connection.id, kResolveMillis) == 0) return absl::OkStatus();
      return absl::UnavailableError(absl::StrCat("no route (", strerror(errno), "); ", kOneNetwork));
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return OnRouteResolved(connection);
    case RDMA_CM_EVENT_ESTABLISHED:
      return OnEstablished(connection, event);
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return absl::UnavailableError(absl::StrCat("nobody is reached there (", rdma_event_str(event.event), ", status ",
                                                 event.status, "); ", kOneNetwork));
    case RDMA_CM_EVENT_REJECTED:
      return absl::UnavailableError(RejectedReason(event.status));
    case RDMA_CM_EVENT_DISCONNECTED:
      return absl::UnavailableError("the queue pair was disconnected: its process has ended, or closed it");
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return absl::FailedPreconditionError("the device was removed from this host; put it back and start again");
    default:
      return absl::OkStatus();
  }
}

absl::Status VerbsConnector::OnRouteResolved(const Connection& connection) {
  if (absl::Status status = CreateQueuePair(connection.id); !status.ok()) return status;
  const ConnectMessage message{
      .node = Value(options_.node),
      .index = options_.index_on_node,
      .token = ConnectToken(options_.run_token, options_.node, connection.peer, options_.index_on_node)};
  rdma_conn_param parameters = ConnectParameters(message);
  if (rdma_connect(connection.id, &parameters) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("rdma_connect: ", strerror(errno), "; ", kOneNetwork));
}

bool VerbsConnector::Accepts(const rdma_cm_event& event, NodeId& from) {
  const absl::StatusOr<ConnectMessage> message = ConnectMessage::Read(PrivateData(event));
  if (!message.ok() || message->node >= options_.node_count || message->index != options_.index_on_node) return false;
  from = NodeId{message->node};
  return from >= options_.node && ListeningEnd(from).id == nullptr &&
         message->token == ConnectToken(options_.run_token, from, options_.node, options_.index_on_node);
}

// Strangers are refused without a word; a token is good for one connection.
absl::Status VerbsConnector::OnRequest(const rdma_cm_event& event) {
  NodeId from{};
  const bool accepts = Accepts(event, from);
  absl::Status accepted = accepts ? Accept(ListeningEnd(from), event.id) : absl::OkStatus();
  if (accepts && accepted.ok()) return accepted;
  rdma_reject(event.id, nullptr, 0);
  if (event.id->qp != nullptr) rdma_destroy_qp(event.id);
  rdma_destroy_id(event.id);
  return accepted.ok() ? accepted : Fail(ListeningEnd(from), accepted);
}

// The other end of `id` has shown its token; it becomes the connection's when that succeeds.
absl::Status VerbsConnector::Accept(Connection& connection, rdma_cm_id* id) {
  if (absl::Status status = CreateQueuePair(id); !status.ok()) return status;
  const ConnectMessage message{
      .node = Value(options_.node),
      .index = options_.index_on_node,
      .token = ConnectToken(options_.run_token, options_.node, connection.peer, options_.index_on_node)};
  rdma_conn_param parameters = ConnectParameters(message);
  if (rdma_accept(id, &parameters) != 0) {
    return absl::UnavailableError(absl::StrCat("rdma_accept: ", strerror(errno), "; ", kOneNetwork));
  }
  connection.id = id;
  return absl::OkStatus();
}

absl::Status VerbsConnector::OnEstablished(Connection& connection, const rdma_cm_event& event) {
  const bool listened = &connection == &loopback_ || connection.peer > options_.node;
  if (!listened) {
    const absl::StatusOr<ConnectMessage> message = ConnectMessage::Read(PrivateData(event));
    if (!message.ok()) return absl::UnavailableError(message.status().message());
    if (message->token != ConnectToken(options_.run_token, connection.peer, options_.node, options_.index_on_node)) {
      return absl::UnavailableError("whoever listens there belongs to another run; end that, or choose another --bind");
    }
  }
  connection.established = true;
  if (connection.queue_pair != nullptr) connection.queue_pair->Activate(connection.id->qp);
  return absl::OkStatus();
}

absl::Status VerbsConnector::Fail(Connection& connection, const absl::Status& reason) {
  connection.failed = true;
  if (connection.queue_pair != nullptr) connection.queue_pair->Deactivate();
  const std::string where = connection.address.empty() ? "" : absl::StrCat(" at ", connection.address);
  return {reason.code(), absl::StrCat("transport verbs: node ", Value(connection.peer), where, ", from ",
                                      options_.device->info().device, " ", address_, ": ", reason.message())};
}

VerbsConnector::Connection* VerbsConnector::Find(const rdma_cm_id* id) {
  for (Connection& connection : connections_) {
    if (connection.id == id) return &connection;
  }
  return loopback_.id == id ? &loopback_ : nullptr;
}

std::optional<NodeId> VerbsConnector::Unconnected() const {
  for (const Connection& connection : connections_) {
    if (connection.queue_pair != nullptr && !connection.established) return connection.peer;
  }
  return std::nullopt;
}

}  // namespace glaive::rdma
