#include "rdma/verbs/device_event.h"

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>

#include "rdma/verbs/queue_pair_failure.h"

namespace glaive::rdma {

DeviceEvent PlainEvent(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
      return {.type = event.event_type, .number = static_cast<std::uint32_t>(event.element.port_num)};
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return {.type = event.event_type, .number = event.element.qp->qp_num};
    default:
      return {.type = event.event_type};
  }
}

void TakeIn(const DeviceEvent& event, DeviceHealth& health, std::int64_t now_ns) {
  switch (event.type) {
    case IBV_EVENT_PORT_ERR:
      return health.OnPortDown(event.number, now_ns);
    case IBV_EVENT_PORT_ACTIVE:
      return health.OnPortUp(event.number);
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
      return health.OnFatal(
          absl::StrCat("the device reports: ", ibv_event_type_str(static_cast<ibv_event_type>(event.type))));
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return health.OnQueuePairError(event.number, QueuePairFailure(event.type));
    default:
      return;
  }
}

}  // namespace glaive::rdma
