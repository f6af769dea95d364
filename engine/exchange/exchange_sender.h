// ExchangeSender: the sending end of an exchange on one executor: for each executor a message that fills up with
// records, and the inbox credits for more. There is a form that sends to one executor alone, for a source whose records
// another executor processes (engine/ingest/).
//
//   records ──► message for A  ── full, or due ──► outbox ──► ring of A
//           ──► message for B  ── full, or due ──► outbox ──► ring of B
//           ──► own message    ── full, or due ──► own inbox
//
// A full message leaves when the next record comes for its receiver. A message that is not full leaves after
// --epoch-interval, when its stream becomes idle, becomes active or ends, and while the producer waits (batching that
// adapts, as in Renoir). Both kinds need an inbox credit of the receiver. Each message says how far the stream has
// come. A message that is due goes to each executor, with records or without. So a watermark arrives behind the records
// that it covers (invariant I3).
//
// While the sender waits for one executor, it sends the others the messages that it has for them, but takes in no
// records. The producer's other consumers get the turns that they want meanwhile: other executors may wait for their
// watermarks.
//
// Used by its executor's thread alone.
//
//   sender.Append(fiber, receiver, timed_record);
//   sender.OnWatermark(watermark);
//   if (sender.WantsTurn(now_ns)) sender.Attend(now_ns);
//   sender.End(fiber);
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/exchange/exchange_inbox.h"
#include "engine/exchange/exchange_layout.h"
#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/flow/control.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/other_consumers.h"
#include "rdma/base/ids.h"
#include "rdma/channel/channel_receiver.h"
#include "rdma/memory/segment_pool.h"
#include "state/record/record.h"
#include "state/record/text_wire.h"

namespace glaive::engine {

class ExchangeSender {
 public:
  /// To all executors: `own` takes the records that stay on this one. All outlive it. A message has room for a record
  /// at least.
  ExchangeSender(TaskContext& context, Shipper& shipper, ExchangeInbox& own, const ExchangeInbox::Options& options);
  /// To one other executor alone.
  ExchangeSender(TaskContext& context, Shipper& shipper, const ExchangeInbox::Options& options, ExecutorId receiver);

  /// Adds a record to the receiver's message. When that message is full, may wait for inbox credit, or for a segment.
  template <typename R>
  void Append(Fiber& fiber, ExecutorId receiver, std::int64_t event_time_ms, const R& record) {
    falls_ += event_time_ms < last_ms_ ? 1 : 0;
    last_ms_ = event_time_ms;
    using Timed = TimedRecord<R>;
    Place<Timed>(fiber, receiver, record,
                 [&](std::byte* place) { return new (place) Timed{.event_time_ms = event_time_ms, .record = record}; });
  }

  /// The order of the event times of some records.
  struct Order {
    bool in_order = false;  // whether none is below that of the one before it
    bool goes_on = false;   // whether none is below that of the last record that was appended before them
  };
  /// Adds records as they are, without their event times.
  template <typename R>
  void AppendAll(Fiber& fiber, ExecutorId receiver, std::span<const R> records, const Order& order) {
    falls_ += order.goes_on ? 0 : 1;
    all_in_order_ = order.in_order;
    if constexpr (kHasText<R>) {
      for (const R& record : records) {
        Place<R>(fiber, receiver, record, [&](std::byte* place) { return new (place) R(record); });
      }
    } else {
      AppendBytes(fiber, receiver, std::as_bytes(records));
    }
    all_in_order_ = true;
  }

  /// Sends the receiver's message if it has records: other records follow in another one. May wait for inbox credit.
  void Cut(Fiber& fiber, ExecutorId receiver);
  /// Sends the receiver's records, and the watermark behind them. May wait for inbox credit.
  void Tell(Fiber& fiber, ExecutorId receiver);
  /// Whether a message has told the receiver the watermark.
  bool has_told_watermark(ExecutorId receiver) const { return open_[Value(receiver)].told_ms == watermark_.time_ms; }

  /// The other consumers of the producer. They outlive it.
  void SetOthers(OtherConsumers& others) { others_ = &others; }

  /// Records that are appended from here on were read at `read_ns`, and their receiver adds the shift to their event
  /// times. Cut comes before another shift.
  void BeginBatch(std::int64_t read_ns, std::int64_t event_time_shift_ms = 0) {
    read_ns_ = read_ns;
    shift_ms_ = event_time_shift_ms;
    hurries_ = false;
  }
  void OnWatermark(const Watermark& watermark);
  void OnIdle();
  void OnActive();
  /// Sends what is left, and the end of the stream. Waits until all of it is in the outbox.
  void End(Fiber& fiber);

  /// The producer is about to wait: messages leave as soon as they can, full or not.
  void Hurry() { hurries_ = true; }
  bool WantsTurn(std::int64_t now_ns) const { return (hurries_ || now_ns >= due_ns_) && CanSendNews(); }
  /// Sends each message that says anything new and has credit.
  void Attend(std::int64_t now_ns);

  /// Takes in a message that gives credit. DataLoss says what is wrong.
  absl::Status OnGrant(ExecutorId receiver, const rdma::Message& message);
  /// Whether the receiver has taken the end of the stream.
  bool is_done(ExecutorId receiver) const { return open_[Value(receiver)].is_done; }
  bool idle() const { return state_ == FlowState::kIdle; }

  std::uint64_t sent_records() const { return sent_records_; }
  /// Payload sent to other executors.
  std::uint64_t bytes_to_others() const { return bytes_to_others_; }
  std::uint64_t waits() const { return waits_; }

 private:
  /// The message for a receiver that is being filled.
  struct Open {
    std::byte* next = nullptr;
    std::byte* end = nullptr;    // of the room: where texts begin
    std::byte* begin = nullptr;  // of the message; null: none is open
    rdma::SegmentId segment{};
    std::int64_t read_ns = 0;                // of the first record
    std::uint64_t falls = 0;                 // falls_ when it was opened
    std::int64_t told_ms = kMinEventTimeMs;  // the watermark of the last message
    FlowState told_state = FlowState::kActive;
    std::uint32_t credits = 0;
    bool is_done = false;
  };

  /// Adds what `make(place)` makes of a record: an Item.
  template <typename Item, typename R, typename MakeFn>
  [[gnu::always_inline]] void Place(Fiber& fiber, ExecutorId receiver, [[maybe_unused]] const R& record,
                                    const MakeFn& make) {
    Open& open = open_[Value(receiver)];
    if constexpr (kHasText<R>) {
      const std::size_t bytes = sizeof(Item) + TextBytes(record);
      if (static_cast<std::size_t>(open.end - open.next) < bytes) [[unlikely]] {
        if (bytes > message_bytes_ - sizeof(ExchangeHeader)) {
          context_->Fail(fiber, TooLong(LongestTextOf(record)));
        }
        MakeRoom(fiber, receiver);
      }
      Item* const placed = make(open.next);
      open.end = state::PackTexts(*placed, open.end, open.begin + message_bytes_);
    } else {
      if (open.next == open.end) [[unlikely]] {
        MakeRoom(fiber, receiver);
      }
      make(open.next);
    }
    open.next += sizeof(Item);
  }
  /// Adds whole records.
  void AppendBytes(Fiber& fiber, ExecutorId receiver, std::span<const std::byte> records);

  ExchangeSender(TaskContext& context, Shipper& shipper, ExchangeInbox* own, const ExchangeInbox::Options& options);

  /// The error of a record whose texts do not fit a message.
  absl::Status TooLong(const LongestText& longest) const;
  [[gnu::noinline]] void MakeRoom(Fiber& fiber, ExecutorId receiver);
  bool CanOpen(ExecutorId receiver) const;
  /// After CanOpen.
  void OpenMessage(ExecutorId receiver);
  static bool HasRecords(const Open& open) {
    return open.begin != nullptr && open.next > open.begin + sizeof(ExchangeHeader);
  }
  /// Whether the receiver has not been told all that there is.
  bool HasNews(const Open& open) const;
  bool CanSend(ExecutorId receiver) const;
  bool CanSendNews() const;
  void SendNews();
  void Send(ExecutorId receiver);
  /// Waits until the receiver's message can be sent, and sends it, unless `is_sent()`: it may be sent meanwhile.
  template <typename Condition>
  void SendUnless(Fiber& fiber, ExecutorId receiver, const Condition& is_sent);
  /// Waits until `holds()`; sends news to other executors meanwhile, and lets other consumers have their turns.
  template <typename Condition>
  void Wait(Fiber& fiber, const Condition& holds);

  TaskContext* context_;
  rdma::SegmentPool* pool_;
  Shipper* shipper_;
  ExchangeInbox* own_;  // null if no record stays on this executor
  OtherConsumers* others_ = nullptr;
  ExchangeInbox::Options options_;
  std::uint32_t credits_;
  std::size_t message_bytes_;  // of the header and as many records as fit, or all room for records with texts
  std::vector<Open> open_;     // by receiver
  Watermark watermark_{.time_ms = kMinEventTimeMs};
  FlowState state_ = FlowState::kActive;
  std::int64_t read_ns_ = 0;
  std::int64_t shift_ms_ = 0;  // of all records in messages that are open
  std::int64_t due_ns_ = 0;    // when messages leave that are not full
  bool hurries_ = false;
  std::int64_t last_ms_ = std::numeric_limits<std::int64_t>::min();  // event time of the last record
  std::uint64_t falls_ = 0;     // how often a record's event time was below that of the one before it
  bool all_in_order_ = true;    // whether falls_ counts each fall of the records that are being appended
  std::size_t sent_bytes_ = 0;  // in the producer's turn
  std::uint64_t sent_records_ = 0;
  std::uint64_t bytes_to_others_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace glaive::engine
