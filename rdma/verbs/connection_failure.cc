#include "rdma/verbs/connection_failure.h"

#include "absl/strings/str_cat.h"
#include <rdma/rdma_cma.h>

#include "rdma/verbs/address_failure.h"
#include "rdma/verbs/connect_failures.h"
#include "rdma/verbs/rejection_failure.h"

namespace glaive::rdma {

absl::Status ConnectionFailure(int event, int status) {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_ERROR:
      return ResolveFailure(-status, kOneNetwork);
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return absl::UnavailableError(absl::StrCat("nobody is reached there (",
                                                 rdma_event_str(static_cast<rdma_cm_event_type>(event)), ", status ",
                                                 status, "); ", kOneNetwork));
    case RDMA_CM_EVENT_REJECTED:
      return RejectionFailure(status);
    case RDMA_CM_EVENT_DISCONNECTED:
      return absl::UnavailableError("the queue pair was disconnected: its process has ended, or closed it");
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return absl::FailedPreconditionError("the device was removed from this host; put it back and start again");
    default:
      return absl::OkStatus();
  }
}

}  // namespace glaive::rdma
