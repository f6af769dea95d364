// Immediate: the 32 bits that an RDMA WRITE_WITH_IMM hands to the receiver's completion queue. They name a channel and
// an event on it.
//
//   bit  31      1: credits came back; 0: a message arrived
//   bits 30..12  an executor, of at most 2^19: the one that wrote it. On its way through a device it is the one that
//                the value is for (node_arrivals.h).
//   bits 11..0   message: its slot in the ring
//                credits: the messages consumed so far, modulo 4096
//
// A sender has at most 4096 messages without credit, and each return of credits is for one message at least. So the
// count modulo 4096 is enough to continue the last one. Read as hostile input.
#pragma once

#include <cstdint>

#include "rdma/base/ids.h"

namespace glaive::rdma {

/// See the bit table at the head of this file.
struct Immediate {
  static constexpr std::uint32_t kNumberBits = 12;
  static constexpr std::uint32_t kNumberMask = (std::uint32_t{1} << kNumberBits) - 1;
  static constexpr std::uint32_t kCreditBit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kMaxExecutors = std::uint32_t{1} << 19;

  bool is_credit = false;
  ExecutorId executor{};
  std::uint32_t number = 0;

  static constexpr Immediate OfMessage(ExecutorId writer, std::uint32_t slot) {
    return {.is_credit = false, .executor = writer, .number = slot};
  }
  static constexpr Immediate OfCredit(ExecutorId writer, std::uint64_t consumed) {
    return {.is_credit = true, .executor = writer, .number = static_cast<std::uint32_t>(consumed) & kNumberMask};
  }

  constexpr std::uint32_t Pack() const {
    return (is_credit ? kCreditBit : 0) | Value(executor) << kNumberBits | number;
  }
  static constexpr Immediate Unpack(std::uint32_t bits) {
    return {.is_credit = (bits & kCreditBit) != 0,
            .executor = ExecutorId{(bits & ~kCreditBit) >> kNumberBits},
            .number = bits & kNumberMask};
  }

  /// The same event with another executor.
  static constexpr std::uint32_t WithExecutor(std::uint32_t bits, ExecutorId executor) {
    Immediate immediate = Unpack(bits);
    immediate.executor = executor;
    return immediate.Pack();
  }

  /// The count of consumed messages that follows `last` and is `number` modulo 4096: one to 4096 more.
  static constexpr std::uint64_t ConsumedAfter(std::uint64_t last, std::uint32_t number) {
    return last + 1 + ((number - static_cast<std::uint32_t>(last) - 1) & kNumberMask);
  }

  bool operator==(const Immediate&) const = default;
};

}  // namespace glaive::rdma
