// Fabric: makes the parts of an executor's channels: the transports to others, and the memory from which messages
// leave.
//
// One for a run, shared by the executors of a process; used while they are set up, by their own threads at the same
// time. Every program uses SystemFabric. A test may use its own, with a simulated network (tests/sim).
//
//   absl::StatusOr<std::unique_ptr<Transport>> transport = fabric.MakeTransport(TransportKind::kShm, options);
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"

#include "rdma/memory/page_region.h"
#include "rdma/transport/transport.h"

namespace glaive::rdma {

class Fabric {
 public:
  virtual ~Fabric() = default;

  /// A transport of the given kind.
  virtual absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(TransportKind kind,
                                                                   const TransportOptions& options) = 0;
  /// Zeroed memory for send segments, of at least `size_bytes`. ResourceExhausted when there is not enough.
  virtual absl::StatusOr<PageRegion> MapSegments(std::size_t size_bytes) = 0;
};

/// The operating system's memory and the host's devices.
class SystemFabric final : public Fabric {
 public:
  absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(TransportKind kind,
                                                           const TransportOptions& options) override {
    return rdma::MakeTransport(kind, options);
  }
  absl::StatusOr<PageRegion> MapSegments(std::size_t size_bytes) override { return PageRegion::Map(size_bytes); }
};

}  // namespace glaive::rdma
