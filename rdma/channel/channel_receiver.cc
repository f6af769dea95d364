#include "rdma/channel/channel_receiver.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/channel/checksum.h"
#include "rdma/channel/write_id.h"
#include "rdma/transport/immediate.h"

namespace glaive::rdma {
namespace {

// Written by a device: the load is repeated each time.
std::uint8_t LoadLap(const std::byte* slot_end) {
  auto* const address = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(slot_end - 1));
  return std::atomic_ref<std::uint8_t>(*address).load(std::memory_order_acquire);
}

template <typename T>
std::string Differs(const char* field, T found, T expected) {
  return absl::StrCat(field, " ", found, ", expected ", expected);
}

bool AllZero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

ChannelReceiver::ChannelReceiver(const ChannelOptions& options, const ReceiverEndpoint& endpoint)
    : options_(options), endpoint_(endpoint) {
  GLAIVE_CHECK(endpoint.ring.size() == options.ring_bytes(), "ring of ", endpoint.ring.size(), " bytes, expected ",
               options.ring_bytes());
  GLAIVE_CHECK(reinterpret_cast<std::uintptr_t>(endpoint.ring.data()) % 64 == 0, "ring is not 64-byte aligned");
  GLAIVE_CHECK(endpoint.copy_slot == nullptr || endpoint.copy_slot->memory.size() >= options.slot_bytes, "a copy of ",
               options.slot_bytes, " bytes does not fit");
  GLAIVE_CHECK(endpoint.arrival != Arrival::kChecksum || (options.checksum_payload && endpoint.clock != nullptr),
               "checksums decide on arrival, but the channel has none, or no clock");
}

const std::byte* ChannelReceiver::SlotEnd(std::uint64_t number) const {
  return endpoint_.ring.data() + ((number - 1) % options_.credits + 1) * options_.slot_bytes;
}

bool ChannelReceiver::Ready() const {
  if (!failure_.ok()) return true;
  if (endpoint_.arrival == Arrival::kImmediate) return arrived_ > received_;
  const std::uint64_t number = received_ + 1;
  return LoadLap(SlotEnd(number)) != LapBefore(number, options_.credits);
}

void ChannelReceiver::OnArrival(std::uint32_t slot) {
  if (!failure_.ok()) return;
  const std::uint64_t expected = arrived_ % options_.credits;
  if (slot != expected) {
    (void)Refuse(arrived_ + 1, Differs<std::uint64_t>("slot", slot, expected));
    return;
  }
  if (arrived_ - published_ == options_.credits) {
    (void)Refuse(arrived_ + 1, WithoutCredit());
    return;
  }
  ++arrived_;
}

std::span<const std::byte> ChannelReceiver::Copied(std::span<const std::byte> payload) const {
  if (endpoint_.copy_slot == nullptr) return payload;
  const std::span<std::byte> copy = endpoint_.copy_slot->memory.first(payload.size());
  std::ranges::copy(payload, copy.begin());
  return copy;
}

absl::StatusOr<std::optional<Message>> ChannelReceiver::TryReceive() {
  if (!Ready()) return std::nullopt;
  if (!failure_.ok()) return failure_;
  CopySlot* const copy = endpoint_.copy_slot;
  GLAIVE_CHECK(copy == nullptr || !copy->is_held, "channel from executor ", Value(endpoint_.peer),
               ": the copy of another message is held");
  const std::uint64_t number = received_ + 1;
  const std::byte* const footer_start = SlotEnd(number) - kFooterBytes;
  SlotFooter footer;
  std::memcpy(&footer, footer_start, sizeof(footer));
  if (const std::uint32_t checksum = FooterChecksum(footer); footer.footer_checksum != checksum) {
    return OnDamage(number, "footer checksum", footer.footer_checksum, checksum);
  }
  if (std::string wrong = Examine(footer, number); !wrong.empty()) return Refuse(number, wrong);
  const std::span<const std::byte> payload =
      Copied({footer_start - PaddedBytes(footer.payload_bytes), footer.payload_bytes});
  const std::uint64_t checksum = options_.checksum_payload ? PayloadChecksum(payload) : footer.payload_checksum;
  if (footer.payload_checksum != checksum) {
    return OnDamage(number, "payload checksum", footer.payload_checksum, checksum);
  }
  placed_by_ns_.reset();
  received_ = number;
  if (copy != nullptr) copy->is_held = true;
  ++counters_.messages;
  counters_.payload_bytes += footer.payload_bytes;
  return Message{.payload = payload, .tag = footer.tag, .number = number};
}

// With kChecksum a wrong checksum may mean that bytes of the message are still under way.
absl::StatusOr<std::optional<Message>> ChannelReceiver::OnDamage(std::uint64_t number, const char* field,
                                                                 std::uint64_t found, std::uint64_t expected) {
  if (endpoint_.arrival != Arrival::kChecksum) return Refuse(number, Differs(field, found, expected));
  const std::int64_t now_ns = endpoint_.clock->NowNanos();
  if (!placed_by_ns_.has_value()) {
    placed_by_ns_ = now_ns + kPlacementPatienceNanos;
    ++counters_.placement_waits;
  }
  if (now_ns < *placed_by_ns_) return std::nullopt;
  return Refuse(number, absl::StrCat(Differs(field, found, expected), ", ", kPlacementPatienceNanos / 1'000'000'000,
                                     " s after its last byte: it was damaged, or the fabric places bytes out of order "
                                     "and a part of it was lost; try --arrival=imm where the devices have it"));
}

std::string ChannelReceiver::Examine(const SlotFooter& footer, std::uint64_t number) const {
  if (footer.ring_token != endpoint_.ring_token) {
    return Differs("ring token", footer.ring_token, endpoint_.ring_token);
  }
  if (footer.message_number != number) return Differs("message number", footer.message_number, number);
  if (number > published_ + options_.credits) return WithoutCredit();
  const std::uint32_t lap = LapOf(number, options_.credits);
  if (footer.lap != lap) return Differs<std::uint32_t>("lap", footer.lap, lap);
  if (footer.payload_bytes > options_.slot_bytes - kFooterBytes) {
    return absl::StrCat("payload of ", footer.payload_bytes, " bytes, expected at most ",
                        options_.slot_bytes - kFooterBytes);
  }
  if (!AllZero(footer.reserved)) return "reserved bytes are not zero";
  return "";
}

std::string ChannelReceiver::WithoutCredit() const {
  return absl::StrCat("it was sent without credit: ", published_, " slots were given back of ", options_.credits,
                      " (I1)");
}

absl::Status ChannelReceiver::Refuse(std::uint64_t number, const std::string& wrong) {
  failure_ = absl::DataLossError(absl::StrCat("channel from executor ", Value(endpoint_.peer), " to executor ",
                                              Value(endpoint_.self), ": message ", number, " is refused: ", wrong));
  return failure_;
}

void ChannelReceiver::Release() {
  GLAIVE_CHECK(released_ < received_, "channel from executor ", Value(endpoint_.peer), ": all ", received_,
               " received messages were released already");
  ++released_;
  if (endpoint_.copy_slot != nullptr) endpoint_.copy_slot->is_held = false;
  if (credits_are_overdue()) FlushCredits();
}

bool ChannelReceiver::FlushCredits() {
  if (published_ == released_) return true;
  if (credit_under_way_ || !PostCredits()) return false;
  published_ = released_;
  if (endpoint_.credits_may_be_late) {
    written_ns_ = endpoint_.clock->NowNanos();
    repeat_ns_ = written_ns_ + kFirstRepeatNanos;
  }
  return true;
}

void ChannelReceiver::RepeatCredits(std::int64_t now_ns) {
  if (!repeat_ns_.has_value() || now_ns < *repeat_ns_ || credit_under_way_) return;
  if (published_ != released_) {  // a newer count will do
    FlushCredits();
    return;
  }
  if (!PostCredits()) return;
  const std::int64_t passed_ns = now_ns - written_ns_;
  repeat_ns_.reset();
  if (passed_ns < kPlacementPatienceNanos) repeat_ns_ = now_ns + passed_ns;
}

bool ChannelReceiver::PostCredits() {
  const bool in_memory = endpoint_.arrival == Arrival::kChecksum;
  WriteRequest request{.remote = endpoint_.region, .wr_id = WriteId{endpoint_.channel, WriteId::kCredit}.Pack()};
  if (in_memory) {
    request.local = reinterpret_cast<const std::byte*>(&released_);
    request.length = sizeof(released_);
    request.remote_offset = endpoint_.credit_offset;
    request.signaled = request.inline_payload = true;
  } else {
    request.immediate = Immediate::OfCredit(endpoint_.self, released_).Pack();
  }
  if (!endpoint_.queue_pair->TryPostWrite(request)) return false;
  credit_under_way_ = in_memory;
  ++counters_.credit_writes;
  return true;
}

}  // namespace glaive::rdma
