#include "engine/exchange/exchange_sender.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

/// A turn ends after about so much was sent: a batch may be copied to many executors.
constexpr std::size_t kSentPerTurn = std::size_t{128} << 10;

}  // namespace

ExchangeSender::ExchangeSender(TaskContext& context, Shipper& shipper, ExchangeInbox& own,
                               const ExchangeInbox::Options& options)
    : ExchangeSender(context, shipper, &own, options) {}

ExchangeSender::ExchangeSender(TaskContext& context, Shipper& shipper, const ExchangeInbox::Options& options,
                               ExecutorId receiver)
    : ExchangeSender(context, shipper, nullptr, options) {
  for (std::uint32_t other = 0; other < open_.size(); ++other) {
    if (ExecutorId{other} != receiver) {
      open_[other].told_state = FlowState::kEnded;
      open_[other].is_done = true;
    }
  }
}

ExchangeSender::ExchangeSender(TaskContext& context, Shipper& shipper, ExchangeInbox* own,
                               const ExchangeInbox::Options& options)
    : context_(&context),
      pool_(&context.mesh->segments()),
      shipper_(&shipper),
      own_(own),
      options_(options),
      credits_(context.exchange_credits),
      open_(context.executor_count) {
  const std::size_t room =
      pool_->payload_capacity() - std::min<std::size_t>(pool_->payload_capacity(), sizeof(ExchangeHeader));
  message_bytes_ =
      sizeof(ExchangeHeader) + (options.has_texts ? room : room / options.record_bytes * options.record_bytes);
  GLAIVE_CHECK(room >= options.record_bytes, "an exchange of records of ", options.record_bytes,
               " bytes on messages of ", pool_->payload_capacity());
  for (Open& open : open_) {
    open.credits = credits_;
  }
}

void ExchangeSender::MakeRoom(Fiber& fiber, ExecutorId receiver) {
  Open& open = open_[Value(receiver)];
  Cut(fiber, receiver);
  if (sent_bytes_ >= kSentPerTurn) {
    sent_bytes_ = 0;
    fiber.Yield();
  }
  Wait(fiber, [&] { return open.begin != nullptr || CanOpen(receiver); });
  if (open.begin == nullptr) {
    OpenMessage(receiver);
  }
}

void ExchangeSender::Cut(Fiber& fiber, ExecutorId receiver) {
  const Open& open = open_[Value(receiver)];
  SendUnless(fiber, receiver, [&] { return !HasRecords(open); });
}

void ExchangeSender::Tell(Fiber& fiber, ExecutorId receiver) {
  const Open& open = open_[Value(receiver)];
  SendUnless(fiber, receiver, [&] { return !HasRecords(open) && has_told_watermark(receiver); });
}

template <typename Condition>
void ExchangeSender::SendUnless(Fiber& fiber, ExecutorId receiver, const Condition& is_sent) {
  Wait(fiber, [&] { return is_sent() || CanSend(receiver); });
  if (!is_sent()) {
    Send(receiver);
  }
}

void ExchangeSender::AppendBytes(Fiber& fiber, ExecutorId receiver, std::span<const std::byte> records) {
  Open& open = open_[Value(receiver)];
  while (!records.empty()) {
    if (open.next == open.end) {
      MakeRoom(fiber, receiver);
    }
    const std::size_t bytes = std::min(records.size(), static_cast<std::size_t>(open.end - open.next));
    std::memcpy(open.next, records.data(), bytes);
    open.next += bytes;
    records = records.subspan(bytes);
  }
}

template <typename Condition>
void ExchangeSender::Wait(Fiber& fiber, const Condition& holds) {
  if (holds()) {
    return;
  }
  ++waits_;
  while (!holds()) {
    SendNews();
    WaitAndAttend(fiber, *context_->clock, others_, [&] { return holds() || CanSendNews(); });
  }
}

bool ExchangeSender::CanOpen(ExecutorId receiver) const {
  return receiver == context_->self ? own_->HasRoomForOwn() : pool_->available() > 0;
}

void ExchangeSender::OpenMessage(ExecutorId receiver) {
  Open& open = open_[Value(receiver)];
  if (receiver == context_->self) {
    open.begin = own_->OpenOwn();
  } else {
    const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
    GLAIVE_CHECK(segment.has_value(), "an exchange has no segment for executor ", Value(receiver));
    open.segment = *segment;
    open.begin = pool_->Data(*segment);
  }
  open.read_ns = read_ns_;
  open.next = open.begin + sizeof(ExchangeHeader);
  open.end = open.begin + message_bytes_;
  open.falls = all_in_order_ ? falls_ : falls_ - 1;  // else the message counts as out of order
}

bool ExchangeSender::HasNews(const Open& open) const {
  return open.told_state != FlowState::kEnded &&
         (HasRecords(open) || open.told_ms != watermark_.time_ms || open.told_state != state_);
}

bool ExchangeSender::CanSend(ExecutorId receiver) const {
  const Open& open = open_[Value(receiver)];
  const bool has_credit = receiver == context_->self || open.credits > 0;
  return has_credit && (open.begin != nullptr || CanOpen(receiver));
}

bool ExchangeSender::CanSendNews() const {
  for (std::uint32_t receiver = 0; receiver < open_.size(); ++receiver) {
    if (HasNews(open_[receiver]) && CanSend(ExecutorId{receiver})) {
      return true;
    }
  }
  return false;
}

void ExchangeSender::SendNews() {
  for (std::uint32_t receiver = 0; receiver < open_.size(); ++receiver) {
    if (HasNews(open_[receiver]) && CanSend(ExecutorId{receiver})) {
      Send(ExecutorId{receiver});
    }
  }
}

// After CanSend.
void ExchangeSender::Send(ExecutorId receiver) {
  Open& open = open_[Value(receiver)];
  if (open.begin == nullptr) {
    OpenMessage(receiver);
  }
  const auto bytes = static_cast<std::size_t>(open.next - open.begin) - sizeof(ExchangeHeader);
  const auto record_count = static_cast<std::uint32_t>(bytes / options_.record_bytes);
  const auto text_bytes = static_cast<std::uint32_t>(open.begin + message_bytes_ - open.end);
  const ExchangeHeader header{.watermark_ms = watermark_.time_ms,
                              .watermark_read_ns = watermark_.read_ns,
                              .read_ns = open.read_ns,
                              .executor = Value(context_->self),
                              .in_order = open.falls == falls_ ? 1U : 0U,
                              .state = state_,
                              .event_time_shift_ms = shift_ms_};
  std::memmove(open.next, open.end, text_bytes);  // header, records and texts leave as one piece
  if (receiver == context_->self) {
    own_->PushOwn(header, record_count, text_bytes);
  } else {
    std::memcpy(open.begin, &header, sizeof(header));
    const ExchangeTag tag{.kind = ExchangeKind::kRecords,
                          .record_count = record_count,
                          .text_bytes = text_bytes,
                          .input = options_.input};
    shipper_->outbox().Push(receiver, open.segment, static_cast<std::uint32_t>(sizeof(header) + bytes) + text_bytes,
                            rdma::MessageTag::Of(tag));
    --open.credits;
    bytes_to_others_ += sizeof(header) + bytes + text_bytes;
  }
  sent_records_ += record_count;
  sent_bytes_ += sizeof(header) + bytes + text_bytes;
  open.told_ms = watermark_.time_ms;
  open.told_state = state_;
  open.begin = open.next = open.end = nullptr;
}

void ExchangeSender::OnWatermark(const Watermark& watermark) { watermark_ = watermark; }

void ExchangeSender::OnIdle() {
  state_ = FlowState::kIdle;
  Hurry();
}

void ExchangeSender::OnActive() {
  state_ = FlowState::kActive;
  Hurry();
}

void ExchangeSender::End(Fiber& fiber) {
  state_ = FlowState::kEnded;
  SendNews();
  const auto all_told = [this] {
    return std::ranges::none_of(open_, [this](const Open& open) { return HasNews(open); });
  };
  Wait(fiber, all_told);
}

void ExchangeSender::Attend(std::int64_t now_ns) {
  SendNews();
  hurries_ = hurries_ && std::ranges::any_of(open_, [this](const Open& open) { return HasNews(open); });
  due_ns_ = now_ns + context_->epoch_policy.epoch_interval_ns;
}

absl::Status ExchangeSender::TooLong(const LongestText& longest) const {
  return absl::InvalidArgumentError(absl::StrCat(
      "a record does not fit a message to another executor, of ", message_bytes_ - sizeof(ExchangeHeader),
      " bytes: ", longest.member.empty() ? "the record, a text," : absl::StrCat("its member ", longest.member), " has ",
      longest.bytes, " bytes; raise --slot-bytes, or --ring-budget if that has made the slots smaller"));
}

absl::Status ExchangeSender::OnGrant(ExecutorId receiver, const rdma::Message& message) {
  const auto tag = message.tag.As<ExchangeTag>();
  Open& open = open_[Value(receiver)];
  const std::uint32_t used = credits_ - open.credits;
  const bool is_last = tag.kind == ExchangeKind::kLastGrant;
  if (!IsGrant(tag.kind) || open.is_done || tag.granted > used || (is_last && open.told_state != FlowState::kEnded) ||
      !message.payload.empty() || tag.record_count != 0 || tag.text_bytes != 0) {
    return absl::DataLossError(absl::StrCat("executor ", Value(context_->self), " refuses a grant of executor ",
                                            Value(receiver), " for exchange ", options_.input, ": ", tag.granted,
                                            " messages of ", used, open.is_done || is_last ? " at the end" : ""));
  }
  open.credits += tag.granted;
  open.is_done = is_last;
  return absl::OkStatus();
}

}  // namespace glaive::engine
