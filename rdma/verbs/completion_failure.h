// CompletionFailure, RefusedWrite: the errors of a write that has failed or was not taken: the outcome for its channel,
// and a message for the user.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "rdma/base/ids.h"
#include "rdma/transport/transport.h"

namespace glaive::rdma {

/// `status` is an ibv_wc_status.
WriteStatus ToWriteStatus(int status);

/// The failure of a write to `peer`, with the vendor's code for its support: Unavailable when the peer or the network
/// is to blame, Internal when this host is (a protection, length or operation error of its own queue pair). Ok for a
/// write that succeeded.
absl::Status CompletionFailure(int status, std::uint32_t vendor_error, NodeId peer);

/// Whether `failure` is CompletionFailure's of a write that may have been lost on its way: no attempt was acknowledged,
/// or it was dropped after an error that the device does not name. Soft-RoCE reports the latter for packets that are
/// larger than the MTU of its own interface.
bool MayBeLostOnTheWay(const absl::Status& failure);

/// The failure of a write to `peer` that ibv_post_send(3) did not take, with its error number: Unavailable when the
/// connection has ended, Internal otherwise.
absl::Status RefusedWrite(int error, NodeId peer);

}  // namespace glaive::rdma
