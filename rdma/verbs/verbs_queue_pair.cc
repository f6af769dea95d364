#include "rdma/verbs/verbs_queue_pair.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <infiniband/verbs.h>

#include "rdma/base/check.h"
#include "rdma/transport/write_bounds.h"

namespace glaive::rdma {
namespace {

// What a footer and a split write's last part take.
constexpr std::uint32_t kLastPartBytes = 64;

}  // namespace

VerbsQueuePair::VerbsQueuePair(std::uint32_t index, std::uint32_t depth, WriteMode mode)
    : index_(index), depth_(depth), mode_(mode), outstanding_(std::bit_ceil(depth)) {}

std::uint32_t VerbsQueuePair::PartsOf(const WriteRequest& request) const {
  return mode_ == WriteMode::kSplit && request.length > kLastPartBytes ? 2 : 1;
}

bool VerbsQueuePair::TryPostWrite(const WriteRequest& request) {
  CheckWriteBounds(request);
  GLAIVE_CHECK(!request.inline_payload || request.length <= kInlineBytes, "inline write of ", request.length, " bytes");
  const std::uint32_t parts = PartsOf(request);
  if (queue_pair_ == nullptr || posted_ - completed_ + parts > depth_) return false;
  if (batch_size_ + parts > kBatch) Flush();
  if (queue_pair_ == nullptr) return false;
  if (parts == 2) Append(request, 0, request.length - kLastPartBytes, false);
  const std::uint32_t done = parts == 2 ? request.length - kLastPartBytes : 0;
  Append(request, done, request.length - done, true);
  return true;
}

void VerbsQueuePair::Append(const WriteRequest& request, std::uint32_t offset, std::uint32_t length, bool last) {
  const bool wanted = last && request.signaled;
  const bool due = ++since_signaled_ >= std::max<std::uint32_t>(depth_ / 4, 1);
  Entry& entry = batch_[batch_size_++];
  entry.local = request.local + offset;
  entry.length = length;
  entry.local_key = static_cast<std::uint32_t>(request.local_key);
  entry.remote_address = request.remote.address + request.remote_offset + offset;
  entry.remote_key = request.remote.key;
  entry.sequence = posted_;
  entry.signaled = wanted || due;
  entry.inline_payload = request.inline_payload;
  if (entry.inline_payload) std::memcpy(entry.payload.data(), request.local, length);
  if (entry.signaled) since_signaled_ = 0;
  outstanding_[posted_ % outstanding_.size()] = {.wr_id = request.wr_id, .signaled = wanted};
  ++posted_;
}

void VerbsQueuePair::Flush() {
  if (batch_size_ == 0 || queue_pair_ == nullptr) return;
  std::array<ibv_sge, kBatch> pieces;
  std::array<ibv_send_wr, kBatch> requests;
  for (std::size_t i = 0; i < batch_size_; ++i) {
    const Entry& entry = batch_[i];
    const std::byte* const from = entry.inline_payload ? entry.payload.data() : entry.local;
    pieces[i] = {.addr = reinterpret_cast<std::uint64_t>(from), .length = entry.length, .lkey = entry.local_key};
    ibv_send_wr& request = requests[i];
    request = {};
    request.wr_id = std::uint64_t{index_} << 32 | entry.sequence;
    request.next = i + 1 < batch_size_ ? &requests[i + 1] : nullptr;
    request.sg_list = &pieces[i];
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    if (entry.signaled) request.send_flags |= IBV_SEND_SIGNALED;
    if (entry.inline_payload) request.send_flags |= IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = entry.remote_address;
    request.wr.rdma.rkey = entry.remote_key;
  }
  batch_size_ = 0;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(queue_pair_, requests.data(), &refused) == 0) return;
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

std::optional<Completion> VerbsQueuePair::TakeRefusal() {
  const std::optional<Completion> refusal = refusal_;
  refusal_.reset();
  return refusal;
}

}  // namespace glaive::rdma
