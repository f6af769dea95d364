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
#include "rdma/bootstrap/run_key.h"
#include "rdma/verbs/address_failure.h"
#include "rdma/verbs/connect_failures.h"
#include "rdma/verbs/connect_message.h"
#include "rdma/verbs/connection_failure.h"
#include "rdma/verbs/locked_memory.h"
#include "rdma/verbs/receive_queue.h"
#include "rdma/verbs/rejection_failure.h"
#include "rdma/verbs/thread_domain.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {
namespace {

constexpr int kSpareBacklog = 64;               // for strangers, besides the executors of the run
constexpr std::uint8_t kEndlessRnrRetries = 7;  // a peer without free receives is not lost

rdma_conn_param ConnectParameters(const ConnectMessage& message) {
  rdma_conn_param parameters{};
  parameters.private_data = &message;
  parameters.private_data_len = sizeof(message);
  parameters.responder_resources = 1;
  parameters.initiator_depth = 1;
  parameters.retry_count = kRetries;
  parameters.rnr_retry_count = kEndlessRnrRetries;
  return parameters;
}

absl::Status SetOption(rdma_cm_id* id, int option, const char* name, std::uint8_t value) {
  if (rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof(value)) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("this kernel does not set ", name,
                                                    " of a connection: ", strerror(errno), "; Linux 5.1 and later do"));
}

// Before it is connected or accepted.
absl::Status SetAckTimeout(rdma_cm_id* id, const VerbsDeviceInfo& device) {
  if (device.is_iwarp) return absl::OkStatus();
  return SetOption(id, RDMA_OPTION_ID_ACK_TIMEOUT, "the ACK timeout", device.ack_timeout_exponent);
}

// Before its address is resolved, which chooses the path. The end that accepts a connection takes the other end's.
absl::Status SetTrafficClass(rdma_cm_id* id, const ConnectionSettings& settings) {
  if (!settings.tos.has_value()) return absl::OkStatus();
  return SetOption(id, RDMA_OPTION_ID_TOS, "the traffic class (--rdma-tos)", *settings.tos);
}

sockaddr* Raw(SocketAddress& address) { return reinterpret_cast<sockaddr*>(&address.storage); }

// With its queue pair; its events must have been acknowledged.
void Destroy(rdma_cm_id* id) {
  if (id->qp != nullptr) rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

}  // namespace

// A copy of an rdma_cm_event: an id can be destroyed only when its events have been acknowledged.
struct VerbsConnector::Event {
  explicit Event(const rdma_cm_event& event) : type(event.event), id(event.id), status(event.status) {
    const bool has_data = type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_ESTABLISHED;
    if (!has_data || event.param.conn.private_data == nullptr) return;
    const auto* const data = static_cast<const std::byte*>(event.param.conn.private_data);
    private_data.assign(data, data + event.param.conn.private_data_len);
  }

  rdma_cm_event_type type;
  rdma_cm_id* id;
  int status;
  std::vector<std::byte> private_data;
};

absl::StatusOr<std::unique_ptr<VerbsConnector>> VerbsConnector::Listen(const TransportOptions& options,
                                                                       const ThreadDomain& domain, ibv_cq* completions,
                                                                       const ReceiveQueue* receives) {
  std::unique_ptr<VerbsConnector> connector(new VerbsConnector(options, domain, completions, receives));
  if (absl::Status status = connector->Bind(); !status.ok()) return status;
  return connector;
}

VerbsConnector::VerbsConnector(const TransportOptions& options, const ThreadDomain& domain, ibv_cq* completions,
                               const ReceiveQueue* receives)
    : options_(options),
      domain_(&domain),
      completions_(completions),
      receives_(receives),
      connections_(options.executor_count) {
  for (std::uint32_t id = 0; id < options.executor_count; ++id) connections_[id].peer = ExecutorId{id};
  loopback_.peer = options.executor;
}

VerbsConnector::~VerbsConnector() {
  connections_.push_back(loopback_);
  for (Connection& connection : connections_) {
    if (connection.queue_pair != nullptr) connection.queue_pair->Deactivate();
    if (connection.id == nullptr) continue;
    if (connection.established) rdma_disconnect(connection.id);
    Destroy(connection.id);
  }
  StopListening();
  if (events_ != nullptr) rdma_destroy_event_channel(events_);
}

void VerbsConnector::StopListening() {
  if (listener_ != nullptr) rdma_destroy_id(std::exchange(listener_, nullptr));
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
  const absl::StatusOr<std::vector<SocketAddress>> where = ResolveAddress(host, 0);
  if (!where.ok()) return where.status();
  here_ = where->front();
  if (absl::Status status = SetTrafficClass(listener_, options_.device->connections()); !status.ok()) return status;
  if (rdma_bind_addr(listener_, Raw(here_)) != 0) return failed("rdma_bind_addr");
  // The system may allow less (net.rdma_ucm.max_backlog). An executor that finds no room there tries again.
  if (rdma_listen(listener_, static_cast<int>(options_.executor_count) + kSpareBacklog) != 0) {
    return failed("rdma_listen");
  }
  address_ = FormatHostPort(host, ntohs(rdma_get_src_port(listener_)));
  return absl::OkStatus();
}

absl::Status VerbsConnector::Start(ExecutorId peer, VerbsQueuePair* queue_pair, const std::string& address) {
  GLAIVE_CHECK(Value(peer) < options_.executor_count, "executor ", Value(options_.executor), " connects to executor ",
               Value(peer), " of ", options_.executor_count);
  Connection& connection = connections_[Value(peer)];
  GLAIVE_CHECK(connection.queue_pair == nullptr, "executor ", Value(peer), " is connected already");
  connection.queue_pair = queue_pair;
  connection.address = address;
  connection.retries = ConnectRetries(clock_.NowNanos(), options_.device->connections().join_timeout);
  if (connection.established) queue_pair->Activate(connection.id->qp);
  if (!Connects(connection)) return absl::OkStatus();
  const absl::StatusOr<HostPort> parts = ParseHostPort(address);
  if (!parts.ok()) return parts.status();
  const absl::StatusOr<SocketAddress> there = NumericAddress(parts->host, parts->port);
  if (!there.ok()) return there.status();
  connection.there = *there;
  if (absl::Status families = CheckFamilies(here_, *there); !families.ok()) return Fail(connection, families);
  return Attempt(connection);
}

// Begins to connect; a failure that may pass is noted, for the next attempt.
absl::Status VerbsConnector::Attempt(Connection& connection) {
  connection.retries.OnAttempt();
  // The connection manager of Soft-RoCE does not get over packets that its port could not send.
  if (absl::Status down = options_.device->PortDown(); !down.ok()) {
    NoteFailure(connection, down);
    return absl::OkStatus();
  }
  if (rdma_create_id(events_, &connection.id, nullptr, RDMA_PS_TCP) != 0) {
    return Fail(connection, absl::ResourceExhaustedError(
                                absl::StrCat("rdma_cm gives no endpoint: ", strerror(errno), "; see ulimit -n")));
  }
  absl::Status options = SetTrafficClass(connection.id, options_.device->connections());
  options.Update(SetAckTimeout(connection.id, options_.device->info()));
  if (!options.ok()) return Fail(connection, options);
  const int millis = connection.retries.StepMillis(clock_.NowNanos());
  if (rdma_resolve_addr(connection.id, Raw(here_), Raw(connection.there), millis) == 0) return absl::OkStatus();
  return OnFailure(connection, ResolveFailure(errno, kOneNetwork));
}

// Begins the attempts whose pause is over, and gives up those whose time is. An end that listens leaves both to the
// other one, which can say why it failed.
absl::Status VerbsConnector::AttemptDue() {
  const std::int64_t now_ns = clock_.NowNanos();
  for (Connection& connection : connections_) {
    if (connection.queue_pair == nullptr || connection.established || connection.failed) continue;
    if (!Connects(connection)) continue;
    absl::Status status;
    if (connection.retries.IsOverdue(now_ns)) {
      status = absl::UnavailableError(
          absl::StrCat(connection.retries.NoAnswer(now_ns).message(), "; that node is busy, or ", kOneNetwork));
      if (status = OnFailure(connection, status); !status.ok()) return status;
    }
    status = connection.retries.Expired(now_ns);
    if (!status.ok()) return Fail(connection, status);
    if (connection.retries.IsDue(now_ns)) status = Attempt(connection);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status VerbsConnector::CreateQueuePair(rdma_cm_id* id) const {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions_;
  attributes.recv_cq = receives_ == nullptr ? completions_ : receives_->completions();
  attributes.srq = receives_ == nullptr ? nullptr : receives_->receives();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = options_.queue_depth;
  attributes.cap.max_recv_wr = 1;  // not used
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = std::max<std::uint32_t>(VerbsQueuePair::kInlineBytes, options_.inline_bytes);
  const std::uint32_t inline_bytes = attributes.cap.max_inline_data;
  if (rdma_create_qp(id, domain_->protection_domain(), &attributes) == 0) return absl::OkStatus();
  const int error = errno;
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot make a queue pair of ", options_.queue_depth, " work requests with ", inline_bytes,
                   " bytes of inline data: ", strerror(error), "; use fewer --executors or --credits",
                   options_.inline_bytes == 0 ? "" : ", or a smaller --inline", LockedMemoryHint(error)));
}

absl::Status VerbsConnector::PollConnecting() {
  are_made_ = false;
  return PollConnections(options_.device->PollFatal());
}

absl::Status VerbsConnector::Poll(bool writes_have_failed) {
  are_made_ = true;
  return PollConnections(options_.device->PollFailure(writes_have_failed));
}

absl::Status VerbsConnector::PollConnections(absl::Status device_failure) {
  if (absl::Status status = ReportDevice(std::move(device_failure)); !status.ok()) return status;
  rdma_cm_event* next = nullptr;
  while (rdma_get_cm_event(events_, &next) == 0) {
    const Event event(*next);
    rdma_ack_cm_event(next);
    if (absl::Status status = Handle(event); !status.ok()) return status;
  }
  if (errno != EAGAIN && errno != EINTR) {
    return absl::InternalError(absl::StrCat("transport verbs: the connection manager of ",
                                            options_.device->info().device, " no longer answers: ", strerror(errno),
                                            "; was its kernel module unloaded?"));
  }
  return listener_ == nullptr ? absl::OkStatus() : AttemptDue();  // all connections stand when it is closed
}

// What the device says of itself and of the queue pairs here.
absl::Status VerbsConnector::ReportDevice(absl::Status failure) {
  if (!failure.ok() && !std::exchange(device_failed_, true)) return failure;
  if (failure.ok()) device_failed_ = false;
  if (!options_.device->HasQueuePairErrors()) return absl::OkStatus();
  const auto report = [this](Connection& connection) -> absl::Status {
    if (connection.failed || connection.id == nullptr || connection.id->qp == nullptr) return absl::OkStatus();
    const auto error = options_.device->TakeQueuePairError(connection.id->qp->qp_num);
    return error.has_value() ? Fail(connection, *error) : absl::OkStatus();
  };
  for (Connection& connection : connections_) {
    if (absl::Status status = report(connection); !status.ok()) return status;
  }
  return report(loopback_);
}

absl::Status VerbsConnector::Handle(const Event& event) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) return OnRequest(event);
  Connection* const connection = Find(event.id);
  if (connection == nullptr || connection->failed) return absl::OkStatus();
  const absl::Status status = OnEvent(*connection, event);
  return status.ok() ? status : OnFailure(*connection, status);
}

absl::Status VerbsConnector::OnEvent(Connection& connection, const Event& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (rdma_resolve_route(connection.id, connection.retries.StepMillis(clock_.NowNanos())) == 0) {
        return absl::OkStatus();
      }
      return absl::UnavailableError(absl::StrCat("no route (", strerror(errno), "); ", kOneNetwork));
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return OnRouteResolved(connection);
    case RDMA_CM_EVENT_ESTABLISHED:
      return OnEstablished(connection, event);
    default:
      return ConnectionFailure(event.type, event.status);
  }
}

absl::Status VerbsConnector::OnRouteResolved(Connection& connection) {
  if (absl::Status status = CreateQueuePair(connection.id); !status.ok()) return status;
  const ConnectMessage message = MessageTo(connection.peer);
  rdma_conn_param parameters = ConnectParameters(message);
  if (rdma_connect(connection.id, &parameters) == 0) {
    if (!options_.device->info().is_iwarp) connection.retries.OnRequest(clock_.NowNanos());  // iWARP gives up by itself
    return absl::OkStatus();
  }
  if (errno == ECONNREFUSED) return RejectionFailure(-ECONNREFUSED);  // iWARP, at once
  return absl::UnavailableError(absl::StrCat("rdma_connect: ", strerror(errno), "; ", kOneNetwork));
}

ConnectMessage VerbsConnector::MessageTo(ExecutorId peer) const {
  return {.from = Value(options_.executor),
          .to = Value(peer),
          .token = ConnectToken(options_.run_key, options_.executor, peer)};
}

std::uint64_t VerbsConnector::TokenOf(ExecutorId peer) const {
  return ConnectToken(options_.run_key, peer, options_.executor);
}

bool VerbsConnector::Accepts(const Event& event, ExecutorId& from) {
  const absl::StatusOr<ConnectMessage> message = ConnectMessage::Read(event.private_data);
  if (!message.ok() || message->from >= options_.executor_count || message->to != Value(options_.executor))
    return false;
  from = ExecutorId{message->from};
  if (from < options_.executor || message->token != TokenOf(from)) return false;
  const Connection& connection = ListeningEnd(from);
  return !connection.established && !connection.failed;
}

// Strangers are refused without a word; a token is good for one connection. A second request before that stands
// is another attempt of the peer, which has given the first one up.
absl::Status VerbsConnector::OnRequest(const Event& event) {
  ExecutorId from{};
  if (!Accepts(event, from)) {
    rdma_reject(event.id, nullptr, 0);
    Destroy(event.id);
    return absl::OkStatus();
  }
  Connection& connection = ListeningEnd(from);
  if (connection.id != nullptr) Destroy(connection.id);
  connection.id = event.id;
  absl::Status accepted = Accept(connection);
  if (accepted.ok()) return accepted;
  rdma_reject(event.id, nullptr, 0);
  return OnFailure(connection, accepted);
}

// The other end of its id has shown its token.
absl::Status VerbsConnector::Accept(const Connection& connection) {
  if (absl::Status status = SetAckTimeout(connection.id, options_.device->info()); !status.ok()) return status;
  if (absl::Status status = CreateQueuePair(connection.id); !status.ok()) return status;
  const ConnectMessage message = MessageTo(connection.peer);
  rdma_conn_param parameters = ConnectParameters(message);
  if (rdma_accept(connection.id, &parameters) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("rdma_accept: ", strerror(errno), "; ", kOneNetwork));
}

absl::Status VerbsConnector::OnEstablished(Connection& connection, const Event& event) {
  if (Connects(connection)) {
    const absl::StatusOr<ConnectMessage> message = ConnectMessage::Read(event.private_data);
    if (!message.ok()) return absl::UnavailableError(message.status().message());
    if (message->token != TokenOf(connection.peer)) {
      return absl::UnavailableError("whoever listens there belongs to another run; end that, or choose another --bind");
    }
  }
  connection.established = true;
  options_.device->connect_failures().Forget(options_.NodeOf(connection.peer));
  executors_[connection.id->qp->qp_num] = connection.peer;
  if (connection.queue_pair != nullptr) connection.queue_pair->Activate(connection.id->qp);
  return absl::OkStatus();
}

// What is to blame for a failed attempt outside this host may pass. The next attempt is the connecting end's.
absl::Status VerbsConnector::OnFailure(Connection& connection, const absl::Status& reason) {
  const bool stands = connection.established && !IsProvisional(connection);
  if (stands || !absl::IsUnavailable(reason)) return Fail(connection, reason);
  if (connection.established) Withdraw(connection);
  if (connection.id != nullptr) Destroy(std::exchange(connection.id, nullptr));
  NoteFailure(connection, reason);
  return absl::OkStatus();
}

// The listening end of iWARP stands before the connecting one, whose attempt may still fail.
bool VerbsConnector::IsProvisional(const Connection& connection) const {
  return options_.device->info().is_iwarp && !are_made_ && !Connects(connection);
}

// Nothing has been sent through it yet.
void VerbsConnector::Withdraw(Connection& connection) {
  connection.established = false;
  executors_.erase(connection.id->qp->qp_num);
  if (connection.queue_pair != nullptr) connection.queue_pair->Deactivate();
}

// The next attempt comes after a pause.
void VerbsConnector::NoteFailure(Connection& connection, const absl::Status& reason) {
  options_.device->connect_failures().Note(options_.NodeOf(connection.peer), reason);
  connection.retries.OnFailure(reason, clock_.NowNanos());
}

absl::Status VerbsConnector::Fail(Connection& connection, const absl::Status& reason) {
  connection.failed = true;
  if (connection.queue_pair != nullptr) connection.queue_pair->Deactivate();
  const std::string where = connection.address.empty() ? "" : absl::StrCat(" at ", connection.address);
  return {reason.code(),
          absl::StrCat("transport verbs: node ", Value(options_.NodeOf(connection.peer)), where, ", from ",
                       options_.device->info().device, " ", address_, ": ", reason.message())};
}

VerbsConnector::Connection* VerbsConnector::Find(const rdma_cm_id* id) {
  for (Connection& connection : connections_) {
    if (connection.id == id) return &connection;
  }
  return loopback_.id == id ? &loopback_ : nullptr;
}

std::optional<ExecutorId> VerbsConnector::ExecutorAt(std::uint32_t queue_pair) const {
  const auto found = executors_.find(queue_pair);
  return found == executors_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<NodeId> VerbsConnector::Unconnected() const {
  for (const Connection& connection : connections_) {
    if (connection.queue_pair != nullptr && !connection.established) {
      return options_.NodeOf(connection.peer);
    }
  }
  // Of the connection to itself, both ends have to stand: the listening one may come second.
  const bool connects_to_itself = connections_[Value(options_.executor)].queue_pair != nullptr;
  if (connects_to_itself && !loopback_.established) return options_.NodeOf(options_.executor);
  return std::nullopt;
}

}  // namespace glaive::rdma
