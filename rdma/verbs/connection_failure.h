// ConnectionFailure: what an event of rdma_cm says of why a connection cannot be made, or is gone.
#pragma once

#include "absl/status/status.h"

namespace glaive::rdma {

/// `event` is an rdma_cm_event_type, `status` what came with it. OK for an event that is no failure. Unavailable: the
/// peer is gone, or another attempt may succeed. FailedPrecondition: the cause is on this host.
absl::Status ConnectionFailure(int event, int status);

}  // namespace glaive::rdma
