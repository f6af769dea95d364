// RejectionFailure: the reason why a peer has rejected the request for a connection.
#pragma once

#include "absl/status/status.h"

namespace glaive::rdma {

/// The failure that RDMA_CM_EVENT_REJECTED reports with `status`: a reason of the InfiniBand Architecture Specification
/// (volume 1, table 107), or over iWARP a negative error number. Unavailable: it may pass.
absl::Status RejectionFailure(int status);

}  // namespace glaive::rdma
