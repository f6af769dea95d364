// CheckWriteBounds: checks that a write stays inside its region, so that it changes no other memory of the peer.
#pragma once

#include "rdma/base/check.h"
#include "rdma/transport/queue_pair.h"

namespace glaive::rdma {

/// A CHECK that the request writes something or has an immediate value, and that it ends inside the remote region; safe
/// against overflow.
inline void CheckWriteBounds(const WriteRequest& request) {
  const RemoteRegion& remote = request.remote;
  GLAIVE_CHECK((request.length > 0 || request.immediate.has_value()) && request.remote_offset <= remote.size_bytes &&
                   request.length <= remote.size_bytes - request.remote_offset,
               "write of ", request.length, " bytes at offset ", request.remote_offset, " of a region of ",
               remote.size_bytes);
}

}  // namespace glaive::rdma
