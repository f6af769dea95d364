#include "rdma/verbs/verbs_queue_pair.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <infiniband/verbs.h>

#include "rdma/base/check.h"
#include "rdma/transport/immediate.h"
#include "rdma/transport/write_bounds.h"

namespace glaive::rdma {

VerbsQueuePair::VerbsQueuePair(std::uint32_t index, std::uint32_t depth, std::uint32_t inline_bytes,
                               std::vector<VerbsQueuePair*>& busy)
    : index_(index), depth_(depth), inline_bytes_(inline_bytes), busy_(&busy), outstanding_(std::bit_ceil(depth)) {}

bool VerbsQueuePair::TryPostWrite(const WriteRequest& request) {
  CheckWriteBounds(request);
  GLAIVE_CHECK(!request.inline_payload || request.length <= kInlineBytes, "inline write of ", request.length, " bytes");
  if (queue_pair_ == nullptr || posted_ - completed_ >= depth_) return false;
  if (batch_size_ == kBatch) Flush();
  if (queue_pair_ == nullptr) return false;
  if (!std::exchange(is_busy_, true)) busy_->push_back(this);
  const bool due = ++since_signaled_ >= std::max<std::uint32_t>(depth_ / 4, 1);
  Entry& entry = batch_[batch_size_++];
  entry.local = request.local;
  entry.length = request.length;
  entry.local_key = static_cast<std::uint32_t>(request.local_key);
  entry.remote_address = request.remote.address + request.remote_offset;
  entry.remote_key = request.remote.key;
  entry.sequence = posted_;
  entry.signaled = request.signaled || due;
  entry.has_payload = request.inline_payload;
  entry.is_inline = request.inline_payload || (request.length > 0 && request.length <= inline_bytes_);
  entry.immediate = std::nullopt;
  if (request.immediate.has_value())
    entry.immediate = Immediate::WithExecutor(*request.immediate, request.remote.owner);
  if (entry.has_payload) std::memcpy(entry.payload.data(), request.local, request.length);
  if (entry.signaled) since_signaled_ = 0;
  outstanding_[posted_ % outstanding_.size()] = {.wr_id = request.wr_id, .signaled = request.signaled};
  ++posted_;
  return true;
}

void VerbsQueuePair::Flush() {
  if (batch_size_ == 0 || queue_pair_ == nullptr) return;
  std::array<ibv_sge, kBatch> pieces;
  std::array<ibv_send_wr, kBatch> requests;
  for (std::size_t i = 0; i < batch_size_; ++i) {
    const Entry& entry = batch_[i];
    const std::byte* const from = entry.has_payload ? entry.payload.data() : entry.local;
    pieces[i] = {.addr = reinterpret_cast<std::uint64_t>(from), .length = entry.length, .lkey = entry.local_key};
    ibv_send_wr& request = requests[i];
    request = {};
    request.wr_id = std::uint64_t{index_} << 32 | entry.sequence;
    request.next = i + 1 < batch_size_ ? &requests[i + 1] : nullptr;
    request.sg_list = &pieces[i];
    request.num_sge = entry.length == 0 ? 0 : 1;
    request.opcode = entry.immediate.has_value() ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    request.imm_data = htonl(entry.immediate.value_or(0));
    if (entry.signaled) request.send_flags |= IBV_SEND_SIGNALED;
    if (entry.is_inline) request.send_flags |= IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = entry.remote_address;
    request.wr.rdma.rkey = entry.remote_key;
  }
  batch_size_ = 0;
  ibv_send_wr* refused = nullptr;
  refusal_error_ = ibv_post_send(queue_pair_, requests.data(), &refused);
  if (refusal_error_ == 0) return;
  const std::uint64_t wr_id = refused == nullptr ? requests[0].wr_id : refused->wr_id;
  refusal_ = Completion{.wr_id = outstanding_[static_cast<std::uint32_t>(wr_id) % outstanding_.size()].wr_id,
                        .status = WriteStatus::kPeerUnreachable};
  Deactivate();
}

// Completions come in order, and each stands for all before it. An error is always reported: it may be of a write that
// nobody asked about.
std::optional<Completion> VerbsQueuePair::OnCompletion(std::uint32_t sequence, WriteStatus status) {
  completed_ = sequence + 1;
  const Outstanding& write = outstanding_[sequence % outstanding_.size()];
  if (status == WriteStatus::kDone && !write.signaled) return std::nullopt;
  return Completion{.wr_id = write.wr_id, .status = status};
}

bool VerbsQueuePair::StaysBusy() {
  is_busy_ = batch_size_ > 0 || refusal_.has_value();
  return is_busy_;
}

std::optional<Completion> VerbsQueuePair::TakeRefusal() {
  const std::optional<Completion> refusal = refusal_;
  refusal_.reset();
  return refusal;
}

}  // namespace glaive::rdma
