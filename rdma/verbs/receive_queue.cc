#include "rdma/verbs/receive_queue.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>

#include "rdma/verbs/locked_memory.h"

namespace glaive::rdma {

absl::StatusOr<std::unique_ptr<ReceiveQueue>> ReceiveQueue::Create(const VerbsDevice& device,
                                                                   const ThreadDomain& domain, std::uint32_t receives) {
  const VerbsDeviceInfo& info = device.info();
  const std::uint32_t depth = std::max(1U, std::min({receives, info.max_receives, info.max_completions}));
  const auto failed = [&](const char* what) {
    const int error = errno;
    return absl::ResourceExhaustedError(absl::StrCat(
        "transport verbs: cannot make ", what, " of ", depth, " entries on ", info.device, ": ", strerror(error),
        "; lower --credits or --executors, or use --arrival=poll", LockedMemoryHint(error)));
  };
  std::unique_ptr<ReceiveQueue> queue(new ReceiveQueue);
  queue->device_ = info.device;
  queue->completions_ = domain.CreateCompletionQueue(static_cast<int>(depth));
  if (queue->completions_ == nullptr) return failed("a completion queue for receives");
  ibv_srq_init_attr attributes{};
  attributes.attr = {.max_wr = depth, .max_sge = 1, .srq_limit = 0};
  queue->receives_ = ibv_create_srq(domain.protection_domain(), &attributes);
  if (queue->receives_ == nullptr) return failed("a shared receive queue");
  if (absl::Status status = queue->Post(depth); !status.ok()) return status;
  return queue;
}

ReceiveQueue::~ReceiveQueue() {
  if (receives_ != nullptr) ibv_destroy_srq(receives_);
  if (completions_ != nullptr) ibv_destroy_cq(completions_);
}

absl::Status ReceiveQueue::Post(std::uint32_t count) {
  std::array<ibv_recv_wr, 32> requests;
  while (count > 0) {
    const std::uint32_t now = std::min<std::uint32_t>(count, requests.size());
    for (std::uint32_t i = 0; i < now; ++i) {
      requests[i] = {};
      requests[i].next = i + 1 < now ? &requests[i + 1] : nullptr;
    }
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_srq_recv(receives_, requests.data(), &refused); error != 0) {
      return absl::InternalError(absl::StrCat("transport verbs: ", device_, " takes no receive: ", strerror(error)));
    }
    count -= now;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> ReceiveQueue::Poll(std::span<Received> received) {
  std::array<ibv_wc, 32> polled;
  const int room = static_cast<int>(std::min(polled.size(), received.size()));
  const int count = ibv_poll_cq(completions_, room, polled.data());
  if (count < 0) {
    return absl::InternalError(absl::StrCat("transport verbs: the completion queue for receives of ", device_,
                                            " cannot be polled; was the device removed from this host?"));
  }
  std::size_t arrived = 0;
  for (const ibv_wc& entry : std::span(polled).first(static_cast<std::size_t>(count))) {
    // A receive that fails belongs to a queue pair that went down, which its sends report.
    if (entry.status != IBV_WC_SUCCESS || (entry.wc_flags & IBV_WC_WITH_IMM) == 0) continue;
    received[arrived++] = {.immediate = ntohl(entry.imm_data), .queue_pair = entry.qp_num};
  }
  if (count > 0) {
    if (absl::Status status = Post(static_cast<std::uint32_t>(count)); !status.ok()) return status;
  }
  return arrived;
}

}  // namespace glaive::rdma
