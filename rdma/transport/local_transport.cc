#include "rdma/transport/local_transport.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::rdma {

LocalTransport::LocalTransport(std::uint32_t queue_depth)
    : CopyTransport(queue_depth), process_(static_cast<std::uint64_t>(getpid())) {}

EndpointDescriptor LocalTransport::endpoint() const { return {.owner = process_}; }

absl::StatusOr<ExposedRegion> LocalTransport::Expose(std::size_t size_bytes) {
  absl::StatusOr<PageRegion> region = PageRegion::Map(size_bytes);
  if (!region.ok()) return region.status();
  const PageRegion& kept = exposed_.emplace_back(*std::move(region));
  return ExposedRegion{.memory = kept.bytes(),
                       .descriptor = {.owner = process_,
                                      .key = 0,
                                      .address = reinterpret_cast<std::uint64_t>(kept.data()),
                                      .size_bytes = kept.size_bytes()},
                       .pages = kept.pages()};
}

absl::StatusOr<RemoteRegion> LocalTransport::Attach(const RegionDescriptor& descriptor) {
  if (descriptor.owner != process_) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport local reaches executors of its own process only: this is ", process_,
                     ", the memory belongs to ", descriptor.owner));
  }
  if (descriptor.address == 0 || descriptor.address % 64 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport local: no region starts at address ", descriptor.address));
  }
  return RemoteRegion{.address = descriptor.address, .size_bytes = descriptor.size_bytes, .key = 0};
}

absl::StatusOr<QueuePair*> LocalTransport::Connect(NodeId peer, const EndpointDescriptor& there) {
  if (there.owner != process_) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport local reaches executors of its own process only: this is ", process_, ", node ",
                     Value(peer), " is ", there.owner));
  }
  return MakeQueuePair();
}

}  // namespace glaive::rdma
