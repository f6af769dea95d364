#include "rdma/verbs/verbs_transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>

#include "rdma/base/bytes.h"
#include "rdma/verbs/locked_memory.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {
namespace {

WriteStatus ToStatus(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return WriteStatus::kDone;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return WriteStatus::kRefused;
    default:
      return WriteStatus::kPeerUnreachable;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> VerbsTransport::Create(const TransportOptions& options) {
  if (options.device == nullptr) return absl::InvalidArgumentError("transport verbs: no device was opened");
  std::unique_ptr<VerbsTransport> transport(new VerbsTransport(options));
  if (absl::Status status = transport->CreateCompletionQueue(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<VerbsConnector>> connector =
      VerbsConnector::Listen(options, transport->completion_queue_);
  if (!connector.ok()) return connector.status();
  transport->connector_ = *std::move(connector);
  return transport;
}

// Every write that is outstanding may come back with an error, so there is room for all.
absl::Status VerbsTransport::CreateCompletionQueue() {
  const VerbsDeviceInfo& device = options_.device->info();
  const std::uint64_t completions = std::uint64_t{options_.queue_depth} * options_.queue_pairs;
  if (options_.queue_depth > device.max_queue_depth || completions > device.max_completions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "transport verbs: an executor needs ", options_.queue_pairs, " queue pairs of ", options_.queue_depth,
        " work requests and a completion queue of ", completions, ", but ", device.device, " has at most ",
        device.max_queue_depth, " and ", device.max_completions, "; lower --credits or --executors"));
  }
  completion_queue_ =
      ibv_create_cq(options_.device->context(), static_cast<int>(completions), nullptr, nullptr, /*comp_vector=*/0);
  const int error = errno;
  if (completion_queue_ != nullptr) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("transport verbs: cannot make a completion queue of ", completions,
                                                   " entries on ", device.device, ": ", strerror(error),
                                                   LockedMemoryHint(error)));
}

VerbsTransport::~VerbsTransport() {
  connector_.reset();
  for (ibv_mr* const region : registered_) ibv_dereg_mr(region);
  if (completion_queue_ != nullptr) ibv_destroy_cq(completion_queue_);
}

EndpointDescriptor VerbsTransport::endpoint() const { return {.owner = 0, .address = connector_->address()}; }

absl::StatusOr<ibv_mr*> VerbsTransport::RegisterMemory(std::span<std::byte> memory, int access) {
  ibv_mr* const region = ibv_reg_mr(options_.device->protection_domain(), memory.data(), memory.size(), access);
  if (region == nullptr) {
    const int error = errno;
    return absl::ResourceExhaustedError(absl::StrCat("transport verbs: cannot register ", FormatBytes(memory.size()),
                                                     " with ", options_.device->info().device, ": ", strerror(error),
                                                     LockedMemoryHint(error)));
  }
  registered_.push_back(region);
  return region;
}

absl::StatusOr<ExposedRegion> VerbsTransport::Expose(std::size_t size_bytes) {
  absl::StatusOr<PageRegion> memory = PageRegion::Map(size_bytes);
  if (!memory.ok()) return memory.status();
  const PageRegion& kept = exposed_.emplace_back(*std::move(memory));
  const absl::StatusOr<ibv_mr*> region = RegisterMemory(kept.bytes(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (!region.ok()) return region.status();
  return ExposedRegion{.memory = kept.bytes(),
                       .descriptor = {.owner = 0,
                                      .key = (*region)->rkey,
                                      .address = reinterpret_cast<std::uint64_t>(kept.data()),
                                      .size_bytes = kept.size_bytes()},
                       .pages = kept.pages()};
}

absl::StatusOr<LocalKey> VerbsTransport::Register(std::span<std::byte> memory) {
  const absl::StatusOr<ibv_mr*> region = RegisterMemory(memory, /*access=*/0);
  if (!region.ok()) return region.status();
  return LocalKey{(*region)->lkey};
}

absl::StatusOr<RemoteRegion> VerbsTransport::Attach(const RegionDescriptor& descriptor) {
  if (descriptor.key > std::numeric_limits<std::uint32_t>::max() || descriptor.size_bytes == 0) {
    return absl::InvalidArgumentError(absl::StrCat("transport verbs: a region of ", descriptor.size_bytes,
                                                   " bytes with key ", descriptor.key, " is none"));
  }
  return RemoteRegion{.address = descriptor.address,
                      .size_bytes = descriptor.size_bytes,
                      .key = static_cast<std::uint32_t>(descriptor.key)};
}

absl::StatusOr<QueuePair*> VerbsTransport::Connect(NodeId peer, const EndpointDescriptor& there) {
  const auto index = static_cast<std::uint32_t>(queue_pairs_.size());
  queue_pairs_.push_back(std::make_unique<VerbsQueuePair>(index, options_.queue_depth, options_.write_mode));
  if (absl::Status status = connector_->Start(peer, queue_pairs_.back().get(), there.address); !status.ok()) {
    return status;
  }
  return queue_pairs_.back().get();
}

absl::StatusOr<std::optional<NodeId>> VerbsTransport::PollConnecting() {
  if (absl::Status status = connector_->Poll(); !status.ok()) return status;
  return connector_->Unconnected();
}

void VerbsTransport::Flush() {
  for (const auto& queue_pair : queue_pairs_) queue_pair->Flush();
}

std::size_t VerbsTransport::PollCompletions(std::span<Completion> completions) {
  std::array<ibv_wc, 32> polled;
  std::size_t reported = 0;
  for (const auto& queue_pair : queue_pairs_) {
    if (reported == completions.size()) return reported;
    if (const std::optional<Completion> refusal = queue_pair->TakeRefusal()) completions[reported++] = *refusal;
  }
  while (reported < completions.size()) {
    const std::size_t room = std::min(polled.size(), completions.size() - reported);
    const int count = ibv_poll_cq(completion_queue_, static_cast<int>(room), polled.data());
    if (count < 0) {
      broken_ =
          absl::InternalError(absl::StrCat("transport verbs: the completion queue of ", options_.device->info().device,
                                           " cannot be polled; was the device removed from this host?"));
      break;
    }
    for (const ibv_wc& entry : std::span(polled).first(static_cast<std::size_t>(count))) {
      VerbsQueuePair& queue_pair = *queue_pairs_[entry.wr_id >> 32];
      const auto sequence = static_cast<std::uint32_t>(entry.wr_id);
      if (const std::optional<Completion> done = queue_pair.OnCompletion(sequence, ToStatus(entry.status))) {
        completions[reported++] = *done;
      }
    }
    if (static_cast<std::size_t>(count) < room) break;
  }
  return reported;
}

bool VerbsTransport::CompletionFreesMemory() const { return !options_.device->info().is_iwarp; }

absl::Status VerbsTransport::PollFailure() {
  if (!broken_.ok()) return std::exchange(broken_, absl::OkStatus());
  return connector_->Poll();
}

}  // namespace glaive::rdma
