#include "rdma/channel/channel_sender.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/channel/checksum.h"
#include "rdma/channel/slot_footer.h"
#include "rdma/channel/write_id.h"
#include "rdma/transport/immediate.h"

namespace glaive::rdma {
namespace {

static_assert(SegmentPool::kFooterBytes == kFooterBytes);

// Partner of the peer's release store of the word (QueuePair Q3): once the count is seen, the peer has read the slots.
std::uint64_t LoadCreditWord(const std::byte* word) {
  auto* const address = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(word));
  return std::atomic_ref<std::uint64_t>(*address).load(std::memory_order_acquire);
}

}  // namespace

ChannelSender::ChannelSender(const ChannelOptions& options, const SenderEndpoint& endpoint)
    : options_(options), endpoint_(endpoint), segments_in_flight_(options.credits) {
  GLAIVE_CHECK(options.signal_interval > 0, "channel to executor ", Value(endpoint.peer), " would never be signaled");
  GLAIVE_CHECK(endpoint.segments->slot_bytes() == options.slot_bytes, "segments of ", endpoint.segments->slot_bytes(),
               " bytes for slots of ", options.slot_bytes);
  GLAIVE_CHECK(endpoint.ring_offset + options.ring_bytes() <= endpoint.region.size_bytes, "ring at offset ",
               endpoint.ring_offset, " of a region of ", endpoint.region.size_bytes);
}

bool ChannelSender::TrySend(SegmentId segment, std::uint32_t payload_bytes, const MessageTag& tag) {
  GLAIVE_CHECK(payload_bytes <= endpoint_.segments->payload_capacity(), "message of ", payload_bytes,
               " bytes to executor ", Value(endpoint_.peer), " in slots of ", options_.slot_bytes);
  if (!HasCredit()) return Stalled(counters_.credit_stalls);
  std::byte* const data = endpoint_.segments->Data(segment);
  WriteFooter(data, payload_bytes, tag);
  if (!PostWrite(data, payload_bytes)) return Stalled(counters_.queue_stalls);
  segments_in_flight_[sent_ % options_.credits] = segment;
  ++sent_;
  stalled_ = false;
  ++counters_.messages;
  counters_.payload_bytes += payload_bytes;
  return true;
}

bool ChannelSender::HasCredit() {
  if (credits() == 0) RefreshCredits();
  const bool slot_is_free = !AwaitsCompletions() || sent_ - completed_ < options_.credits;
  return credits() > 0 && slot_is_free && failure_.ok();
}

// Over iWARP a completion says nothing of the peer's memory.
bool ChannelSender::AwaitsCompletions() const {
  return endpoint_.arrival == Arrival::kChecksum && endpoint_.completion_frees_segment;
}

void ChannelSender::WriteFooter(std::byte* segment, std::uint32_t payload_bytes, const MessageTag& tag) const {
  SlotFooter footer;
  footer.message_number = sent_ + 1;
  if (options_.checksum_payload) footer.payload_checksum = PayloadChecksum({segment, payload_bytes});
  footer.tag = tag;
  footer.payload_bytes = payload_bytes;
  footer.ring_token = endpoint_.ring_token;
  footer.lap = LapOf(sent_ + 1, options_.credits);
  footer.footer_checksum = FooterChecksum(footer);
  std::memcpy(segment + PaddedBytes(payload_bytes), &footer, sizeof(footer));
}

// The message goes to its slot's end, whatever its length (see slot_footer.h).
bool ChannelSender::PostWrite(const std::byte* segment, std::uint32_t payload_bytes) {
  const std::uint64_t number = sent_ + 1;
  const std::uint32_t length = MessageBytes(payload_bytes);
  const auto slot = static_cast<std::uint32_t>(sent_ % options_.credits);
  const std::uint64_t slot_end = endpoint_.ring_offset + (std::uint64_t{slot} + 1) * options_.slot_bytes;
  std::optional<std::uint32_t> immediate;
  if (endpoint_.arrival == Arrival::kImmediate) immediate = Immediate::OfMessage(endpoint_.self, slot).Pack();
  return endpoint_.queue_pair->TryPostWrite({.local = segment,
                                             .length = length,
                                             .local_key = endpoint_.segments_key,
                                             .remote = endpoint_.region,
                                             .remote_offset = slot_end - length,
                                             .wr_id = WriteId{endpoint_.channel, number}.Pack(),
                                             .signaled = AwaitsCompletions() || number % options_.signal_interval == 0,
                                             .immediate = immediate});
}

bool ChannelSender::Stalled(std::uint64_t& counter) {
  if (!stalled_) ++counter;
  stalled_ = true;
  return false;
}

absl::Status ChannelSender::Poll() {
  RefreshCredits();
  return failure_;
}

void ChannelSender::OnCredit(std::uint32_t count) { TakeConsumed(Immediate::ConsumedAfter(consumed_, count)); }

void ChannelSender::RefreshCredits() {
  if (endpoint_.arrival == Arrival::kImmediate) return;  // the mesh calls OnCredit
  const std::uint64_t consumed = LoadCreditWord(endpoint_.credit_word);
  if (consumed != consumed_) TakeConsumed(consumed);
}

void ChannelSender::TakeConsumed(std::uint64_t consumed) {
  if (!failure_.ok()) return;
  if (consumed < consumed_ && endpoint_.credits_may_be_late) return;  // see I1
  if (consumed < consumed_ || consumed > sent_) {
    failure_ = absl::DataLossError(absl::StrCat(
        "channel from executor ", Value(endpoint_.self), " to executor ", Value(endpoint_.peer),
        ": the peer says that ", consumed, " messages were consumed; expected ", consumed_, " to ", sent_, " (I1)"));
    return;
  }
  consumed_ = consumed;
  if (!AwaitsCompletions()) ReturnSegments(consumed);
}

void ChannelSender::OnCompletion(std::uint64_t number, WriteStatus status) {
  GLAIVE_CHECK(number <= sent_, "completion of message ", number, " to executor ", Value(endpoint_.peer), " of ",
               sent_);
  // A refusal, too, is most often a peer that is gone: its memory may be taken down before its connections.
  if (status != WriteStatus::kDone && failure_.ok()) {
    failure_ = absl::UnavailableError(
        absl::StrCat("channel from executor ", Value(endpoint_.self), " to executor ", Value(endpoint_.peer), ": ",
                     number == WriteId::kCredit ? "credits" : absl::StrCat("message ", number), ": ", Name(status)));
  }
  completed_ = std::max(completed_, number);
  if (endpoint_.completion_frees_segment) ReturnSegments(number);
}

void ChannelSender::ReturnSegments(std::uint64_t up_to) {
  for (; returned_ < up_to; ++returned_) {
    endpoint_.segments->Release(segments_in_flight_[returned_ % options_.credits]);
  }
}

}  // namespace glaive::rdma
