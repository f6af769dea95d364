// The check of bench/write_order: that it can fail.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "bench/write_order/order_check.h"

namespace glaive::bench {
namespace {

constexpr std::uint8_t kBefore = 3;
constexpr std::uint8_t kLap = 4;

std::vector<std::byte> MessageOf(std::size_t size_bytes, std::uint8_t lap) {
  return std::vector<std::byte>(size_bytes, std::byte{lap});
}

TEST(WriteOrderCheckTest, FindsNothingInACompleteMessage) {
  for (const std::size_t size_bytes : {1U, 63U, 64U, 65U, 4096U, 4160U}) {
    const std::vector<std::byte> message = MessageOf(size_bytes, kLap);
    EXPECT_TRUE(HasArrived(message, kLap));
    EXPECT_FALSE(HasArrived(message, kBefore));
    EXPECT_EQ(CheckMessage(message, kLap).late_lines, 0) << size_bytes;
  }
}

TEST(WriteOrderCheckTest, FindsEachLateLineAndTheFarthest) {
  std::vector<std::byte> message = MessageOf(4096, kLap);
  std::memset(&message[4096 - 128], kBefore, 64);
  OrderFault fault = CheckMessage(message, kLap);
  EXPECT_EQ(fault.late_lines, 1);
  EXPECT_EQ(fault.farthest_bytes, 128);
  message[0] = std::byte{kBefore};
  fault = CheckMessage(message, kLap);
  EXPECT_EQ(fault.late_lines, 2);
  EXPECT_EQ(fault.farthest_bytes, 4096);
}

TEST(WriteOrderCheckTest, LapsDifferFromTheOneBefore) {
  for (std::uint64_t number = kOrderSlots; number < 600 * kOrderSlots; ++number) {
    ASSERT_NE(LapOfMessage(number), LapOfMessage(number - kOrderSlots)) << number;
    ASSERT_NE(LapOfMessage(number), 0) << number;
  }
}

TEST(WriteOrderCheckTest, TheBackwardsWriterWritesTheWholeMessageToItsPlace) {
  std::vector<std::byte> ring = MessageOf(1024, 0);
  const std::vector<std::byte> message = MessageOf(200, kLap);
  BackwardsQueuePair writer;
  ASSERT_TRUE(writer.TryPostWrite(
      {.local = message.data(),
       .length = 200,
       .remote = {.address = reinterpret_cast<std::uint64_t>(ring.data()), .size_bytes = ring.size()},
       .remote_offset = 512}));
  EXPECT_EQ(std::memcmp(&ring[512], message.data(), message.size()), 0);
  EXPECT_EQ(ring[511], std::byte{0});
  EXPECT_EQ(ring[712], std::byte{0});
}

}  // namespace
}  // namespace glaive::bench
