// MessageTarget: an input of the query as a target of messages. The receiving fiber hands it those of other executors.
//
// Every message that executors exchange is for one input. A stage takes deltas (delta_target.h), an exchange takes
// records (engine/exchange/exchange_inbox.h). Its tag has the input's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/fiber/fiber.h"
#include "rdma/base/ids.h"
#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/message_tag.h"

namespace glaive::engine {

/// Where the tags of all messages have the number of the query's input, in 4 bytes.
inline constexpr std::size_t kInputInTag = 16;

/// The number of the input that a message is for. A peer's word: there may be no such input.
inline std::uint32_t InputOf(const rdma::MessageTag& tag) {
  std::uint32_t input = 0;
  std::memcpy(&input, tag.bytes.data() + kInputInTag, sizeof(input));
  return input;
}

class MessageTarget {
 public:
  virtual ~MessageTarget() = default;

  /// Whether `sender` sends this input messages, the last of which it marks. Else its messages are refused.
  virtual bool Expects(ExecutorId /*sender*/) const { return true; }
  /// Checks a message of `sender` and takes it in. May yield, and waits for nothing (invariant I5). True once: with the
  /// last message of that sender.
  virtual bool Receive(Fiber& fiber, ExecutorId sender, const rdma::Message& message) = 0;
};

}  // namespace glaive::engine
