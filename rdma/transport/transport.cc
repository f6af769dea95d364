#include "rdma/transport/transport.h"

#include <memory>

#include "rdma/transport/local_transport.h"
#include "rdma/transport/shm_transport.h"
#include "rdma/verbs/verbs_transport.h"

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

absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(TransportKind kind, const TransportOptions& options) {
  switch (kind) {
    case TransportKind::kLocal:
      return std::make_unique<LocalTransport>(options);
    case TransportKind::kShm:
      return std::make_unique<ShmTransport>(options);
    case TransportKind::kVerbs:
      return VerbsTransport::Create(options);
  }
  return absl::InvalidArgumentError("unknown kind of transport");
}

}  // namespace glaive::rdma
