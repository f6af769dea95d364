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

namespace glaive::rdma {
namespace {

// Partner of the release store that ends a write (QueuePair Q2): once the new value is seen, so is the whole message.
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
}

const std::byte* ChannelReceiver::SlotEnd(std::uint64_t number) const {
  return endpoint_.ring.data() + ((number - 1) % options_.credits + 1) * options_.slot_bytes;
}

bool ChannelReceiver::Ready() const {
  if (!failure_.ok()) return true;
  const std::uint64_t number = received_ + 1;
  return LoadLap(SlotEnd(number)) != LapBefore(number, options_.credits);
}

absl::StatusOr<std::optional<Message>> ChannelReceiver::TryReceive() {
  if (!Ready()) return std::nullopt;
  if (!failure_.ok()) return failure_;
  const std::uint64_t number = received_ + 1;
  const std::byte* const footer_start = SlotEnd(number) - kFooterBytes;
  SlotFooter footer;
  std::memcpy(&footer, footer_start, sizeof(footer));
  if (std::string wrong = Examine(footer, number); !wrong.empty()) return Refuse(number, wrong);
  const std::span<const std::byte> payload(footer_start - PaddedBytes(footer.payload_bytes), footer.payload_bytes);
  if (options_.checksum_payload && PayloadChecksum(payload) != footer.payload_checksum) {
    return Refuse(number, Differs("payload checksum", footer.payload_checksum, PayloadChecksum(payload)));
  }
  received_ = number;
  ++counters_.messages;
  counters_.payload_bytes += footer.payload_bytes;
  return Message{.payload = payload, .tag = footer.tag, .number = number};
}

std::string ChannelReceiver::Examine(const SlotFooter& footer, std::uint64_t number) const {
  if (footer.footer_checksum != FooterChecksum(footer)) {
    return Differs("footer checksum", footer.footer_checksum, FooterChecksum(footer));
  }
  if (footer.ring_token != endpoint_.ring_token) {
    return Differs("ring token", footer.ring_token, endpoint_.ring_token);
  }
  if (footer.message_number != number) return Differs("message number", footer.message_number, number);
  if (number > published_ + options_.credits) {
    return absl::StrCat("it was sent without credit: ", published_, " slots were given back of ", options_.credits,
                        " (I1)");
  }
  const std::uint32_t lap = LapOf(number, options_.credits);
  if (footer.lap != lap) return Differs<std::uint32_t>("lap", footer.lap, lap);
  if (footer.payload_bytes > options_.slot_bytes - kFooterBytes) {
    return absl::StrCat("payload of ", footer.payload_bytes, " bytes, expected at most ",
                        options_.slot_bytes - kFooterBytes);
  }
  if (!AllZero(footer.reserved)) return "reserved bytes are not zero";
  return "";
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
  if (released_ - published_ >= options_.credits / 2) FlushCredits();
}

bool ChannelReceiver::FlushCredits() {
  if (published_ == released_) return true;
  const bool posted = endpoint_.queue_pair->TryPostWrite({.local = reinterpret_cast<const std::byte*>(&released_),
                                                          .length = sizeof(released_),
                                                          .remote = endpoint_.region,
                                                          .remote_offset = endpoint_.credit_offset,
                                                          .wr_id = WriteId{endpoint_.channel, WriteId::kCredit}.Pack(),
                                                          .inline_payload = true});
  if (!posted) return false;
  published_ = released_;
  ++counters_.credit_writes;
  return true;
}

}  // namespace glaive::rdma
