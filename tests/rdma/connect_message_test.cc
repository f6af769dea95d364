#include "rdma/verbs/connect_message.h"

#include <array>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

std::array<std::byte, kMaxPrivateDataBytes> Padded(const ConnectMessage& message) {
  std::array<std::byte, kMaxPrivateDataBytes> bytes{};
  std::memcpy(bytes.data(), &message, sizeof(message));
  return bytes;
}

TEST(ConnectMessageTest, ReadsWhatWasWrittenAndIgnoresThePadding) {
  const ConnectMessage message{.from = 3, .to = 9, .token = 0x1234567890abcdef};
  const absl::StatusOr<ConnectMessage> read = ConnectMessage::Read(Padded(message));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, message);
}

TEST(ConnectMessageTest, RefusesStrangersOtherVersionsAndTooFewBytes) {
  EXPECT_THAT(ConnectMessage::Read(Padded({.magic = 7})).status().message(), HasSubstr("no glaive node"));
  EXPECT_THAT(ConnectMessage::Read(Padded({.version = 9})).status().message(), HasSubstr("version 9, expected 2"));
  const auto bytes = Padded({});
  for (std::size_t size = 0; size < sizeof(ConnectMessage); ++size) {
    EXPECT_FALSE(ConnectMessage::Read(std::span(bytes).first(size)).ok()) << size;
  }
}

}  // namespace
}  // namespace glaive::rdma
