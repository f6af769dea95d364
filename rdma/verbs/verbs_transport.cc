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
#include "rdma/base/check.h"
#include "rdma/transport/node_arrivals.h"
#include "rdma/verbs/completion_failure.h"
#include "rdma/verbs/data_order.h"
#include "rdma/verbs/locked_memory.h"
#include "rdma/verbs/relaxed_ordering.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {
absl::StatusOr<std::unique_ptr<Transport>> VerbsTransport::Create(const TransportOptions& options) {
  if (options.device == nullptr) return absl::InvalidArgumentError("transport verbs: no device was opened");
  std::unique_ptr<VerbsTransport> transport(new VerbsTransport(options));
  if (absl::Status status = transport->CreateCompletionQueue(); !status.ok()) return status;
  if (options.arrival == Arrival::kImmediate) {
    if (absl::Status status = transport->CreateReceiveQueue(); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<VerbsConnector>> connector = VerbsConnector::Listen(
      options, transport->domain_, transport->completion_queue_, transport->receive_queue_.get());
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
  completion_queue_ = domain_.CreateCompletionQueue(static_cast<int>(completions));
  const int error = errno;
  if (completion_queue_ != nullptr) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("transport verbs: cannot make a completion queue of ", completions,
                                                   " entries on ", device.device, ": ", strerror(error),
                                                   LockedMemoryHint(error)));
}

absl::Status VerbsTransport::CreateReceiveQueue() {
  if (!options_.device->info().has_immediates()) {
    return absl::InvalidArgumentError(absl::StrCat("transport verbs: ", options_.device->info().device,
                                                   " has no WRITE with an immediate value or no shared receive "
                                                   "queues; use --arrival=poll"));
  }
  GLAIVE_CHECK(options_.node_arrivals != nullptr, "executor ", Value(options_.executor), " has no NodeArrivals");
  if (absl::Status status = options_.node_arrivals->Open(options_.executor, options_.receives); !status.ok()) {
    return status;
  }
  absl::StatusOr<std::unique_ptr<ReceiveQueue>> receives =
      ReceiveQueue::Create(*options_.device, domain_, options_.receives);
  if (!receives.ok()) return receives.status();
  receive_queue_ = *std::move(receives);
  return absl::OkStatus();
}

VerbsTransport::~VerbsTransport() {
  connector_.reset();
  for (ibv_mr* const region : registered_) ibv_dereg_mr(region);
  if (completion_queue_ != nullptr) ibv_destroy_cq(completion_queue_);
}

EndpointDescriptor VerbsTransport::endpoint() const { return {.owner = 0, .address = connector_->address()}; }

absl::StatusOr<ibv_mr*> VerbsTransport::RegisterMemory(std::span<std::byte> memory, unsigned access) {
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
  const PageRegion& retained = exposed_.emplace_back(*std::move(memory));
  const absl::StatusOr<ibv_mr*> region = RegisterMemory(retained.bytes(), AccessOfRings(options_));
  if (!region.ok()) return region.status();
  return ExposedRegion{.memory = retained.bytes(),
                       .descriptor = {.owner = Value(options_.executor),
                                      .key = (*region)->rkey,
                                      .address = reinterpret_cast<std::uint64_t>(retained.data()),
                                      .size_bytes = retained.size_bytes()},
                       .pages = retained.pages()};
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
  if (descriptor.owner >= options_.executor_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport verbs: a region of executor ", descriptor.owner, " of ", options_.executor_count));
  }
  return RemoteRegion{.address = descriptor.address,
                      .size_bytes = descriptor.size_bytes,
                      .key = static_cast<std::uint32_t>(descriptor.key),
                      .owner = ExecutorId{static_cast<std::uint32_t>(descriptor.owner)}};
}

absl::StatusOr<QueuePair*> VerbsTransport::Connect(ExecutorId peer, const EndpointDescriptor& there) {
  const auto index = static_cast<std::uint32_t>(queue_pairs_.size());
  queue_pairs_.push_back(std::make_unique<VerbsQueuePair>(index, options_.queue_depth, options_.inline_bytes, busy_));
  nodes_.push_back(options_.NodeOf(peer));
  if (absl::Status status = connector_->Start(peer, queue_pairs_.back().get(), there.address); !status.ok()) {
    return status;
  }
  return queue_pairs_.back().get();
}

absl::StatusOr<std::optional<NodeId>> VerbsTransport::PollConnecting() {
  if (absl::Status status = connector_->PollConnecting(); !status.ok()) return status;
  const std::optional<NodeId> missing = connector_->Unconnected();
  // Over iWARP the listening end counts as connected before the other one does. While connections are being made,
  // closing a listener of soft-iWARP has once held up the process.
  if (!missing.has_value() && !options_.device->info().is_iwarp) connector_->StopListening();
  return missing;
}

void VerbsTransport::Flush() {
  for (VerbsQueuePair* const queue_pair : busy_) queue_pair->Flush();
  std::erase_if(busy_, [](VerbsQueuePair* queue_pair) { return !queue_pair->StaysBusy(); });
}

std::size_t VerbsTransport::PollCompletions(std::span<Completion> completions) {
  if (!failed_.empty()) return ReportFailures(completions);
  std::array<ibv_wc, 32> polled;
  std::size_t reported = 0;
  for (VerbsQueuePair* const queue_pair : busy_) {
    if (reported == completions.size()) return reported;
    if (const std::optional<Completion> refusal = queue_pair->TakeRefusal()) {
      writes_have_failed_ = true;
      if (broken_.ok()) broken_ = RefusedWrite(queue_pair->refusal_error(), nodes_[queue_pair->index()]);
      completions[reported++] = *refusal;
    }
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
      if (entry.status != IBV_WC_SUCCESS) OnFailedWrite(queue_pair, entry.status, entry.vendor_err);
      const std::optional<Completion> done = queue_pair.OnCompletion(sequence, ToWriteStatus(entry.status));
      if (!done.has_value()) continue;
      if (done->status == WriteStatus::kDone) {
        completions[reported++] = *done;
      } else {
        failed_.push_back(*done);
      }
    }
    if (!failed_.empty()) break;
    if (static_cast<std::size_t>(count) < room) break;
  }
  return reported;
}

// A write may fail before the port's state shows the cause, at least on Soft-RoCE: the kernel first removes the routes
// of a network interface that goes down. So the first failures wait for that.
std::size_t VerbsTransport::ReportFailures(std::span<Completion> completions) {
  if (!reports_failures_ && clock_.NowNanos() < port_is_known_ns_ && options_.device->PortIsActive()) return 0;
  reports_failures_ = true;
  const std::size_t count = std::min(failed_.size(), completions.size());
  const auto end = failed_.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(failed_.begin(), end, completions.begin());
  failed_.erase(failed_.begin(), end);
  return count;
}

// The first failed write of a queue pair tells why; the connector has told of one that is no longer active.
void VerbsTransport::OnFailedWrite(VerbsQueuePair& queue_pair, int status, std::uint32_t vendor_error) {
  if (!std::exchange(writes_have_failed_, true)) port_is_known_ns_ = clock_.NowNanos() + kPortStateDelayNanos;
  if (!queue_pair.is_active()) return;
  queue_pair.Deactivate();
  if (broken_.ok()) broken_ = CompletionFailure(status, vendor_error, nodes_[queue_pair.index()]);
}

std::size_t VerbsTransport::PollArrivals(std::span<std::uint32_t> immediates) {
  if (receive_queue_ == nullptr) return 0;
  std::size_t count = 0;
  if (absl::Status status = TakeArrivals(immediates, count); !status.ok()) broken_ = std::move(status);
  return count;
}

// From the device, and from the executors to which the device has handed values for this one.
absl::Status VerbsTransport::TakeArrivals(std::span<std::uint32_t> immediates, std::size_t& count) {
  constexpr int kMostBatches = 64;  // whatever peers send, the executor's fibers get their turn
  std::array<ReceiveQueue::Received, 32> received;
  for (int batch = 0; batch < kMostBatches && count < immediates.size(); ++batch) {
    const std::size_t room = std::min(received.size(), immediates.size() - count);
    const absl::StatusOr<std::size_t> some = receive_queue_->Poll(std::span(received).first(room));
    if (!some.ok()) return some.status();
    for (const ReceiveQueue::Received& each : std::span(received).first(*some)) {
      const std::optional<ExecutorId> writer = connector_->ExecutorAt(each.queue_pair);
      if (!writer.has_value()) {
        return absl::DataLossError(absl::StrCat("transport verbs: an immediate value came over queue pair ",
                                                each.queue_pair, ", which is of no connection of executor ",
                                                Value(options_.executor)));
      }
      const auto own = options_.node_arrivals->Take(options_.executor, *writer, each.immediate);
      if (!own.ok()) return own.status();
      if (own->has_value()) {
        immediates[count++] = **own;
      } else {
        ++handed_on_;
      }
    }
    if (*some < room) break;
  }
  const absl::StatusOr<std::size_t> more = options_.node_arrivals->Poll(options_.executor, immediates.subspan(count));
  if (!more.ok()) return more.status();
  count += *more;
  return absl::OkStatus();
}

bool VerbsTransport::CompletionFreesMemory() const { return !options_.device->info().is_iwarp; }

bool VerbsTransport::PlacesOutOfOrder() const {
  return std::ranges::any_of(queue_pairs_, [this](const auto& each) {
    return each->is_active() && MayPlaceOutOfOrder(each->device_queue_pair(), options_.device->info().driver);
  });
}

// A connection that came down, or the device's own failure, explains the writes that failed with it.
absl::Status VerbsTransport::PollFailure() {
  if (absl::Status status = connector_->Poll(writes_have_failed_); !status.ok()) return status;
  if (!failed_.empty() && !reports_failures_) return absl::OkStatus();  // the completions come first
  return std::exchange(broken_, absl::OkStatus());
}

}  // namespace glaive::rdma
