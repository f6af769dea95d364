#include "rdma/transport/copy_transport.h"

#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {
namespace {

class CopyQueuePairTest : public ::testing::TestWithParam<TransportKind> {
 protected:
  CopyQueuePairTest()
      : writer_(MakeTestTransport(GetParam(), 1, kQueueDepth / 2)),  // both nodes' queue pairs share the completions
        owner_(MakeTestTransport(GetParam(), 0, kQueueDepth / 2)),
        exposed_(owner_->Expose(8192).value()),
        remote_(writer_->Attach(exposed_.descriptor).value()),
        queue_pair_(writer_->Connect(ExecutorId{0}, owner_->endpoint()).value()),
        local_(8192) {
    for (std::size_t i = 0; i < local_.size(); ++i) local_[i] = static_cast<std::byte>(i * 37 + i / 256 + 1);
  }

  WriteRequest Write(std::uint32_t length, std::uint64_t offset) const {
    return {.local = local_.data(), .length = length, .remote = remote_, .remote_offset = offset};
  }

  static constexpr std::uint32_t kQueueDepth = 4;
  std::unique_ptr<Transport> writer_;
  std::unique_ptr<Transport> owner_;
  ExposedRegion exposed_;
  RemoteRegion remote_;
  QueuePair* queue_pair_;
  std::vector<std::byte> local_;
};

TEST_P(CopyQueuePairTest, WritesExactlyTheBytesOfARequest) {
  for (std::uint32_t length = 1; length < 300; ++length) {
    std::memset(exposed_.memory.data(), 0, 1024);
    ASSERT_TRUE(queue_pair_->TryPostWrite(Write(length, 256)));
    EXPECT_EQ(std::memcmp(exposed_.memory.data() + 256, local_.data(), length), 0) << length;
    EXPECT_EQ(exposed_.memory[255], std::byte{0}) << length;
    EXPECT_EQ(exposed_.memory[256 + length], std::byte{0}) << length;
  }
}

TEST_P(CopyQueuePairTest, WritesUpToTheLastByteOfTheRegion) {
  EXPECT_TRUE(queue_pair_->TryPostWrite(Write(8192, 0)));
  EXPECT_EQ(std::memcmp(exposed_.memory.data(), local_.data(), 8192), 0);
}

TEST_P(CopyQueuePairTest, ReportsSignaledWritesOnlyAndInOrder) {
  for (std::uint64_t id = 1; id <= 6; ++id) {
    WriteRequest request = Write(100, 0);
    request.wr_id = id;
    request.signaled = id % 2 == 0;
    ASSERT_TRUE(queue_pair_->TryPostWrite(request));
  }
  std::array<Completion, 2> completions;
  ASSERT_EQ(writer_->PollCompletions(completions), 2U);
  EXPECT_EQ(completions[0].wr_id, 2U);
  EXPECT_EQ(completions[0].status, WriteStatus::kDone);
  EXPECT_EQ(completions[1].wr_id, 4U);
  ASSERT_EQ(writer_->PollCompletions(completions), 1U);
  EXPECT_EQ(completions[0].wr_id, 6U);
  EXPECT_EQ(writer_->PollCompletions(completions), 0U);
}

TEST_P(CopyQueuePairTest, RefusesASignaledWriteWithoutRoomForItsCompletion) {
  WriteRequest request = Write(1, 0);
  request.signaled = true;
  for (std::uint32_t i = 0; i < kQueueDepth; ++i) ASSERT_TRUE(queue_pair_->TryPostWrite(request));
  request.remote_offset = 1000;
  EXPECT_FALSE(queue_pair_->TryPostWrite(request));
  EXPECT_EQ(exposed_.memory[1000], std::byte{0});
  std::array<Completion, 1> completions;
  EXPECT_EQ(writer_->PollCompletions(completions), 1U);
  EXPECT_TRUE(queue_pair_->TryPostWrite(request));
}

TEST_P(CopyQueuePairTest, SharesOneCompletionQueueAmongQueuePairs) {
  QueuePair* const other = writer_->Connect(ExecutorId{1}, owner_->endpoint()).value();
  WriteRequest request = Write(1, 0);
  request.signaled = true;
  request.wr_id = 11;
  ASSERT_TRUE(other->TryPostWrite(request));
  request.wr_id = 12;
  ASSERT_TRUE(queue_pair_->TryPostWrite(request));
  std::array<Completion, 4> completions;
  ASSERT_EQ(writer_->PollCompletions(completions), 2U);
  EXPECT_EQ(completions[0].wr_id, 11U);
  EXPECT_EQ(completions[1].wr_id, 12U);
}

using CopyQueuePairDeathTest = CopyQueuePairTest;

TEST_P(CopyQueuePairDeathTest, EndsTheProcessRatherThanWritePastTheRegion) {
  EXPECT_DEATH(queue_pair_->TryPostWrite(Write(2, 8191)), "write of 2 bytes at offset 8191 of a region of 8192");
  EXPECT_DEATH(queue_pair_->TryPostWrite(Write(1, ~std::uint64_t{0})), "of a region of 8192");
  EXPECT_DEATH(queue_pair_->TryPostWrite(Write(0, 0)), "write of 0 bytes");
}

INSTANTIATE_TEST_SUITE_P(Transports, CopyQueuePairTest, ::testing::Values(TransportKind::kLocal, TransportKind::kShm),
                         [](const auto& test) { return Name(test.param); });
INSTANTIATE_TEST_SUITE_P(Transports, CopyQueuePairDeathTest,
                         ::testing::Values(TransportKind::kLocal, TransportKind::kShm),
                         [](const auto& test) { return Name(test.param); });

}  // namespace
}  // namespace glaive::rdma
