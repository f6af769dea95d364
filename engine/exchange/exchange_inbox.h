// ExchangeInbox: the receiving end of an exchange on one executor: for each executor a queue of the messages that it
// has sent, and the right to send more.
//
//    ring of A ──► Receive ──► queue of A ─┐
//    ring of B ──► Receive ──► queue of B ─┼─► Front, Pop ──► the exchange's fiber
//    own records ─► PushOwn ─► own queue ──┘        └─► grants, to A and B
//
// Each message in a queue, or on its way to it, has taken one of the sender's inbox credits, so Receive always finds
// room (invariant I5). Pop frees a place. When half of the places of a sender are free again, a grant returns the inbox
// credits. So a slow operator holds up the producers that send to it.
//
// Used by its executor's thread alone. What peers send is checked as hostile input.
//
//   ExchangeInbox inbox(context, shipper, {.input = 2, .record_bytes = 72});
//   if (inbox.HasMessage(sender)) {
//     const ExchangeMessage message = inbox.Front(sender);
//     ...
//     inbox.Pop(fiber, sender);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/exchange/exchange_layout.h"
#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "rdma/base/ids.h"
#include "rdma/channel/channel_receiver.h"

namespace glaive::engine {

/// A message of records in an inbox.
struct ExchangeMessage {
  ExchangeHeader header;
  std::span<std::byte> records;      // 64-byte aligned; its reader may change them
  std::span<const std::byte> texts;  // that they refer to
};

class ExchangeInbox {
 public:
  struct Options {
    std::uint32_t input = 0;         // the exchange's number among the query's inputs
    std::uint32_t record_bytes = 0;  // of a record, with its event time if it has one in the message
    bool has_texts = false;          // whether records have texts
    bool has_shift = false;          // whether messages may have an event_time_shift_ms
  };

  /// `context` and `shipper` outlive it.
  ExchangeInbox(TaskContext& context, Shipper& shipper, const Options& options);

  // ---- for the fiber that receives --------------------------------------------------------------------------------

  /// Checks a message of records, and stores a copy. DataLoss says what is wrong.
  absl::Status Receive(ExecutorId sender, const rdma::Message& message);
  /// Whether the last message of records of that sender has come.
  bool has_ended(ExecutorId sender) const { return queues_[Value(sender)].ended; }

  // ---- for the executor's own records -----------------------------------------------------------------------------

  bool HasRoomForOwn() const { return queues_[Value(context_->self)].count < credits_; }
  /// A buffer of a message's size for own records. After HasRoomForOwn.
  std::byte* OpenOwn();
  /// Puts the opened buffer, in which the records and their texts lie behind the header's place, into the own queue.
  void PushOwn(const ExchangeHeader& header, std::uint32_t record_count, std::uint32_t text_bytes);

  // ---- for the exchange's fiber -----------------------------------------------------------------------------------

  /// Of all senders.
  std::size_t messages() const { return messages_; }
  bool HasMessage(ExecutorId sender) const { return queues_[Value(sender)].count > 0; }
  /// The oldest message of a sender; valid until it is popped.
  ExchangeMessage Front(ExecutorId sender) const;
  /// Gives its place free. Waits for a segment when the sender is to be told.
  void Pop(Fiber& fiber, ExecutorId sender);

 private:
  using Buffer = std::unique_ptr<std::byte[], void (*)(std::byte*)>;  // of a message's size
  /// A message, its header included.
  struct Held {
    Buffer buffer{nullptr, nullptr};
    std::uint32_t record_count = 0;
    std::uint32_t text_bytes = 0;
  };
  /// The messages of one sender: a ring with a place for each credit.
  struct Queue {
    std::vector<Held> messages;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t owed = 0;  // places given free that the sender has not been told of
    bool ended = false;      // no message of records may follow
  };

  Buffer TakeBuffer();
  void Push(Queue& queue, Buffer buffer, const ExchangeHeader& header, const ExchangeTag& tag);
  std::string Examine(ExecutorId sender, const ExchangeTag& tag, const rdma::Message& message,
                      const ExchangeHeader& header) const;
  void Grant(Fiber& fiber, ExecutorId sender, ExchangeKind kind);

  TaskContext* context_;
  Shipper* shipper_;
  Options options_;
  std::uint32_t credits_;
  std::size_t payload_bytes_;     // of a message at most
  std::vector<Queue> queues_;     // by sender
  Buffer own_{nullptr, nullptr};  // that is being filled with own records
  std::vector<Buffer> free_;      // the last one that was used comes first, since it is in the cache
  std::size_t messages_ = 0;
};

}  // namespace glaive::engine
