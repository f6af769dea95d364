// ResolveFailure: the error when rdma_cm cannot resolve the address of a peer, and whether another attempt can help.
#pragma once

#include <string>

#include "absl/status/status.h"

#include "rdma/base/address.h"

namespace glaive::rdma {

/// FailedPrecondition, with a remedy, when the addresses of the two ends of a connection are of different families:
/// nobody connects IPv4 and IPv6.
absl::Status CheckFamilies(const SocketAddress& here, const SocketAddress& there);

/// The failure of rdma_resolve_addr(3) with the error number `error`; `remedy` is what may help. Unavailable if it may
/// pass. FailedPrecondition if the system can never reach such an address.
absl::Status ResolveFailure(int error, const std::string& remedy);

}  // namespace glaive::rdma
