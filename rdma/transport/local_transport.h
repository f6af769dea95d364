// LocalTransport: between executors of one process. A descriptor is an address; a write is a copy.
//
// The exposed memory is private to the process and so can have transparent huge pages. T1 matters here: destroy it only
// when the peers have stopped writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/memory/page_region.h"
#include "rdma/transport/copy_transport.h"

namespace glaive::rdma {

/// See the head of this file.
class LocalTransport final : public CopyTransport {
 public:
  explicit LocalTransport(const TransportOptions& options);

  TransportKind kind() const override { return TransportKind::kLocal; }
  EndpointDescriptor endpoint() const override;
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override;
  /// InvalidArgument for a region of another process.
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) override;
  absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) override;

 private:
  std::uint64_t process_;
  std::vector<PageRegion> exposed_;
};

}  // namespace glaive::rdma
