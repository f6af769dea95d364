#include "rdma/transport/local_transport.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::rdma {

LocalTransport::LocalTransport(const TransportOptions& options)
    : CopyTransport(options), process_(static_cast<std::uint64_t>(getpid())) {}

EndpointDescriptor LocalTransport::endpoint() const { return {.owner = process_}; }

absl::StatusOr<ExposedRegion> LocalTransport::Expose(std::size_t size_bytes) {
  absl::StatusOr<PageRegion> region = PageRegion::Map(RegionBytes(size_bytes));
  if (!region.ok()) return region.status();
  const PageRegion& retained = exposed_.emplace_back(*std::move(region));
  return ExposedRegion{.memory = AddQueue(retained.bytes()),
                       .descriptor = {.owner = process_,
                                      .key = 0,
                                      .address = reinterpret_cast<std::uint64_t>(retained.data()),
                                      .size_bytes = retained.size_bytes()},
                       .pages = retained.pages()};
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
  return AttachMapped({reinterpret_cast<std::byte*>(descriptor.address), descriptor.size_bytes});
}

absl::StatusOr<QueuePair*> LocalTransport::Connect(ExecutorId peer, const EndpointDescriptor& there) {
  if (there.owner != process_) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport local reaches executors of its own process only: this is ", process_, ", executor ",
                     Value(peer), " is in ", there.owner));
  }
  return MakeQueuePair();
}

}  // namespace glaive::rdma
