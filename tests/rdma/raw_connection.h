// One end of a connection of rdma_cm that is not Glaive's: it shows or answers any private data. It has no queue pair,
// so it is good for nothing else.
#pragma once

#include <fcntl.h>
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rdma/rdma_cma.h>

#include "rdma/base/address.h"

namespace glaive::rdma {

/// See the head of this file.
class RawConnection {
 public:
  RawConnection() : events_(rdma_create_event_channel()) {
    fcntl(events_->fd, F_SETFL, O_NONBLOCK);
    rdma_create_id(events_, &id_, nullptr, RDMA_PS_TCP);
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() {
    if (request_ != nullptr) rdma_destroy_id(request_);
    rdma_destroy_id(id_);
    rdma_destroy_event_channel(events_);
  }

  /// Asks for a connection from a host to an address with port, and shows the private data. Whether it was sent.
  bool Ask(const std::string& host, const std::string& address, std::span<const std::byte> private_data) {
    const HostPort there = ParseHostPort(address).value();
    SocketAddress to = ResolveAddress(there.host, there.port).value().front();
    SocketAddress from = ResolveAddress(host, 0).value().front();
    if (rdma_resolve_addr(id_, reinterpret_cast<sockaddr*>(&from.storage), reinterpret_cast<sockaddr*>(&to.storage),
                          kResolveMillis) != 0 ||
        Await() != RDMA_CM_EVENT_ADDR_RESOLVED || rdma_resolve_route(id_, kResolveMillis) != 0 ||
        Await() != RDMA_CM_EVENT_ROUTE_RESOLVED) {
      return false;
    }
    rdma_conn_param parameters = Parameters(private_data);
    return rdma_connect(id_, &parameters) == 0;
  }

  /// Listens at the host; the address with port, empty if it cannot.
  std::string Listen(const std::string& host) {
    SocketAddress here = ResolveAddress(host, 0).value().front();
    if (rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&here.storage)) != 0 || rdma_listen(id_, 1) != 0) return "";
    return FormatHostPort(host, ntohs(rdma_get_src_port(id_)));
  }

  /// Accepts the request that has come, with the private data. Whether it could.
  bool Answer(std::span<const std::byte> private_data) {
    rdma_conn_param parameters = Parameters(private_data);
    return request_ != nullptr && rdma_accept(request_, &parameters) == 0;
  }

  /// What has happened next, or nothing yet.
  std::optional<rdma_cm_event_type> Poll() {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(events_, &event) != 0) return std::nullopt;
    const rdma_cm_event_type type = event->event;
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) request_ = event->id;
    rdma_ack_cm_event(event);
    return type;
  }

 private:
  static constexpr int kResolveMillis = 2'000;

  static rdma_conn_param Parameters(std::span<const std::byte> private_data) {
    rdma_conn_param parameters{};
    parameters.private_data = private_data.data();
    parameters.private_data_len = static_cast<std::uint8_t>(private_data.size());
    parameters.responder_resources = 1;
    parameters.initiator_depth = 1;
    // Of no queue pair. The kernel refuses a number that it has as that of a connection already.
    static std::uint32_t next_number = 0x700000;
    parameters.qp_num = next_number++;
    return parameters;
  }

  // Waits for the next event, which the kernel sends in any case.
  std::optional<rdma_cm_event_type> Await() {
    pollfd descriptor{.fd = events_->fd, .events = POLLIN, .revents = 0};
    poll(&descriptor, 1, 2 * kResolveMillis);
    return Poll();
  }

  rdma_event_channel* events_;
  rdma_cm_id* id_ = nullptr;
  rdma_cm_id* request_ = nullptr;
};

}  // namespace glaive::rdma
