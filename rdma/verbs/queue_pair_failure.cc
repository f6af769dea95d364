#include "rdma/verbs/queue_pair_failure.h"

#include <string>

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>

namespace glaive::rdma {

absl::Status QueuePairFailure(int event) {
  const std::string text = absl::StrCat("the device reports: ", ibv_event_type_str(static_cast<ibv_event_type>(event)));
  switch (event) {
    case IBV_EVENT_QP_REQ_ERR:
      return absl::UnavailableError(absl::StrCat(text,
                                                 "; it refused a request of that node, which was no valid one: that "
                                                 "node's device or driver is to blame, or the network between"));
    case IBV_EVENT_QP_ACCESS_ERR:
      return absl::UnavailableError(
          absl::StrCat(text,
                       "; it refused a write of that node to memory that is not the node's to "
                       "write: that node is to blame, and its message says more"));
    default:
      return absl::InternalError(text);
  }
}

}  // namespace glaive::rdma
