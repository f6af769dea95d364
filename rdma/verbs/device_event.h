// TakeIn: what an asynchronous event of a device (ibv_get_async_event(3)) means for the device's health.
//
//   TakeIn(PlainEvent(event), health, clock.NowNanos());
#pragma once

#include <cstdint>

#include "rdma/verbs/device_health.h"

struct ibv_async_event;

namespace glaive::rdma {

/// An event without pointers.
struct DeviceEvent {
  int type = 0;              ///< an ibv_event_type
  std::uint32_t number = 0;  ///< of the port or the queue pair that it is of; 0 for events of others
};

/// The event as it is reported. Before it is acknowledged: its queue pair may be gone afterwards.
DeviceEvent PlainEvent(const ibv_async_event& event);

/// A port that goes down or up, an error of a queue pair, or one that ends the use of the device: the device's own, or
/// that of a completion queue or a shared receive queue. Other events change nothing.
void TakeIn(const DeviceEvent& event, DeviceHealth& health, std::int64_t now_ns);

}  // namespace glaive::rdma
