#include "engine/exchange/exchange_inbox.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/memory/segment_pool.h"

namespace glaive::engine {
namespace {

constexpr std::align_val_t kAlignment{64};

void FreeBuffer(std::byte* bytes) { ::operator delete[](bytes, kAlignment); }

}  // namespace

ExchangeInbox::ExchangeInbox(TaskContext& context, Shipper& shipper, const Options& options)
    : context_(&context),
      shipper_(&shipper),
      options_(options),
      credits_(context.exchange_credits),
      payload_bytes_(context.mesh->segments().payload_capacity()),
      queues_(context.executor_count) {}

ExchangeInbox::Buffer ExchangeInbox::TakeBuffer() {
  if (free_.empty()) {
    return {static_cast<std::byte*>(::operator new[](payload_bytes_, kAlignment)), &FreeBuffer};
  }
  Buffer buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void ExchangeInbox::Push(Queue& queue, Buffer buffer, const ExchangeHeader& header, const ExchangeTag& tag) {
  std::memcpy(buffer.get(), &header, sizeof(header));
  const std::uint32_t place = (queue.first + queue.count) % credits_;
  if (queue.messages.size() == place) {  // the ring is used for the first time
    queue.messages.emplace_back();
  }
  queue.messages[place] = {.buffer = std::move(buffer), .record_count = tag.record_count, .text_bytes = tag.text_bytes};
  queue.ended = header.state == FlowState::kEnded;
  ++queue.count;
  ++messages_;
}

absl::Status ExchangeInbox::Receive(ExecutorId sender, const rdma::Message& message) {
  const auto tag = message.tag.As<ExchangeTag>();
  ExchangeHeader header;  // a copy: the sender could still write to it
  if (message.payload.size() >= sizeof(header)) {
    std::memcpy(&header, message.payload.data(), sizeof(header));
  }
  if (const std::string wrong = Examine(sender, tag, message, header); !wrong.empty()) {
    return absl::DataLossError(absl::StrCat("executor ", Value(context_->self), " refuses records of executor ",
                                            Value(sender), " for exchange ", options_.input, ": ", wrong));
  }
  Buffer buffer = TakeBuffer();
  std::memcpy(buffer.get() + sizeof(header), message.payload.data() + sizeof(header),
              message.payload.size() - sizeof(header));
  Push(queues_[Value(sender)], std::move(buffer), header, tag);
  return absl::OkStatus();
}

std::string ExchangeInbox::Examine(ExecutorId sender, const ExchangeTag& tag, const rdma::Message& message,
                                   const ExchangeHeader& header) const {
  const Queue& queue = queues_[Value(sender)];
  if (queue.ended) {
    return "its stream has ended";
  }
  if (queue.count + queue.owed >= credits_) {
    return absl::StrCat("it has sent ", queue.count + queue.owed + 1, " messages, and may send ", credits_);
  }
  if (tag.text_bytes != 0 && !options_.has_texts) {
    return absl::StrCat(tag.text_bytes, " bytes of texts, which its records do not have");
  }
  const std::size_t expected = sizeof(header) + std::size_t{tag.record_count} * options_.record_bytes + tag.text_bytes;
  if (message.payload.size() != expected) {
    return absl::StrCat("a payload of ", message.payload.size(), " bytes does not match ", tag.record_count,
                        " records of ", options_.record_bytes, " bytes and ", tag.text_bytes, " bytes of texts");
  }
  const bool has_reserved = tag.reserved != 0 || header.reserved != 0 ||
                            std::ranges::any_of(header.more_reserved, [](std::uint64_t word) { return word != 0; });
  if (has_reserved) {
    return "reserved bytes that are not zero";
  }
  if (tag.kind != ExchangeKind::kRecords || tag.granted != 0) {
    return absl::StrCat("a message of kind ", static_cast<std::uint32_t>(tag.kind), " with ", tag.granted, " grants");
  }
  if (header.read_ns < 0 || header.watermark_read_ns < 0) {
    return absl::StrCat("records that were read at ", header.read_ns, " ns, behind a watermark of ",
                        header.watermark_read_ns, " ns");
  }
  if (header.executor != Value(sender) || header.in_order > 1 || header.state > FlowState::kEnded) {
    return absl::StrCat("its header speaks of executor ", header.executor, ", order ", header.in_order, " and state ",
                        static_cast<std::uint32_t>(header.state));
  }
  if (header.watermark_ms == kEndedMs) {
    return "a watermark of the end of the stream";
  }
  if (header.event_time_shift_ms != 0 && !options_.has_shift) {
    return absl::StrCat("event times that are to be shifted by ", header.event_time_shift_ms, " ms");
  }
  return "";
}

std::byte* ExchangeInbox::OpenOwn() {
  GLAIVE_CHECK(HasRoomForOwn() && own_ == nullptr, "an exchange's own queue is full, or its next message open");
  own_ = TakeBuffer();
  return own_.get();
}

void ExchangeInbox::PushOwn(const ExchangeHeader& header, std::uint32_t record_count, std::uint32_t text_bytes) {
  Push(queues_[Value(context_->self)], std::move(own_), header,
       {.record_count = record_count, .text_bytes = text_bytes});
}

ExchangeMessage ExchangeInbox::Front(ExecutorId sender) const {
  const Queue& queue = queues_[Value(sender)];
  GLAIVE_CHECK(queue.count > 0, "an exchange has no message of executor ", Value(sender));
  const Held& held = queue.messages[queue.first];
  ExchangeMessage message;
  std::memcpy(&message.header, held.buffer.get(), sizeof(message.header));
  message.records = {held.buffer.get() + sizeof(message.header),
                     std::size_t{held.record_count} * options_.record_bytes};
  message.texts = {message.records.data() + message.records.size(), held.text_bytes};
  return message;
}

void ExchangeInbox::Pop(Fiber& fiber, ExecutorId sender) {
  Queue& queue = queues_[Value(sender)];
  free_.push_back(std::move(queue.messages[queue.first].buffer));
  queue.first = (queue.first + 1) % credits_;
  --queue.count;
  --messages_;
  if (sender == context_->self) {
    return;
  }
  ++queue.owed;
  if (queue.ended && queue.count == 0) {
    Grant(fiber, sender, ExchangeKind::kLastGrant);
  } else if (queue.owed >= (credits_ + 1) / 2) {
    Grant(fiber, sender, ExchangeKind::kGrant);
  }
}

void ExchangeInbox::Grant(Fiber& fiber, ExecutorId sender, ExchangeKind kind) {
  rdma::SegmentPool& pool = context_->mesh->segments();
  std::optional<rdma::SegmentId> segment = pool.TryAcquire();
  while (!segment.has_value()) {
    fiber.WaitUntil([&] { return pool.available() > 0; });
    segment = pool.TryAcquire();
  }
  const ExchangeTag tag{
      .kind = kind, .granted = std::exchange(queues_[Value(sender)].owed, 0), .input = options_.input};
  shipper_->outbox().Push(sender, *segment, /*payload_bytes=*/0, rdma::MessageTag::Of(tag));
}

}  // namespace glaive::engine
