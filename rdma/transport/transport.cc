#include "rdma/transport/transport.h"

#include "rdma/transport/local_transport.h"
#include "rdma/transport/shm_transport.h"

namespace glaive::rdma {

const char* Name(WriteStatus status) {
  switch (status) {
    case WriteStatus::kDone:
      return "done";
    case WriteStatus::kPeerUnreachable:
      return "peer unreachable";
    case WriteStatus::kRefused:
      return "refused by the peer";
  }
  return "unknown";
}

std::unique_ptr<Transport> MakeTransport(TransportKind kind, std::uint32_t queue_depth) {
  if (kind == TransportKind::kLocal) return std::make_unique<LocalTransport>(queue_depth);
  return std::make_unique<ShmTransport>(queue_depth);
}

}  // namespace glaive::rdma
