// QueuePairFailure: the error that an asynchronous event of a queue pair reports (ibv_get_async_event(3)), and at which
// end it happened.
#pragma once

#include "absl/status/status.h"

namespace glaive::rdma {

/// `event` is the ibv_event_type of an error. Internal for a queue pair of this host that has failed by itself.
/// Unavailable where the device refuses a request that the peer has sent: the peer or the network is to blame.
absl::Status QueuePairFailure(int event);

}  // namespace glaive::rdma
