// What an asynchronous event of a queue pair says (ibv_get_async_event(3)): what went wrong, and on whose side.
#pragma once

#include "absl/status/status.h"

namespace glaive::rdma {

/// `event` is the ibv_event_type of an error. Internal for a queue pair of this host that has failed by itself.
/// Unavailable where the device refuses a request that the peer has sent: the peer or the network is to blame.
absl::Status QueuePairFailure(int event);

}  // namespace glaive::rdma
