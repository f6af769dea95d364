#include "rdma/mesh/message_probes.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/transport/local_transport.h"
#include "rdma/verbs/completion_failure.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kBytes = 512;

// Values of ibv_wc_status, which are part of the verbs' binary interface.
constexpr int kRemoteAccess = 10;
constexpr int kRetryExceeded = 12;

// A queue pair that notes what was written, and does nothing.
class NotingQueuePair final : public QueuePair {
 public:
  bool TryPostWrite(const WriteRequest& request) override {
    if (is_full) return false;
    writes.push_back(request);
    return true;
  }

  bool is_full = false;
  std::vector<WriteRequest> writes;
};

// A transport whose completions and failure a test gives it.
class GivenTransport final : public CopyTransport {
 public:
  GivenTransport() : CopyTransport({}) {}

  TransportKind kind() const override { return TransportKind::kVerbs; }
  EndpointDescriptor endpoint() const override { return {}; }
  absl::StatusOr<ExposedRegion> Expose(std::size_t /*size_bytes*/) override { return ExposedRegion{}; }
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& /*descriptor*/) override { return RemoteRegion{}; }
  absl::StatusOr<QueuePair*> Connect(ExecutorId /*peer*/, const EndpointDescriptor& /*there*/) override {
    return nullptr;
  }
  void Flush() override { ++flushes; }
  std::size_t PollCompletions(std::span<Completion> taken) override {
    const std::size_t count = std::min(taken.size(), completions.size());
    std::copy_n(completions.begin(), count, taken.begin());
    completions.erase(completions.begin(), completions.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  absl::Status PollFailure() override { return failure; }

  std::vector<Completion> completions;
  absl::Status failure;
  int flushes = 0;
};

class MessageProbesTest : public ::testing::Test {
 protected:
  MessageProbesTest() {
    for (std::uint32_t node = 0; node < 2; ++node) {
      probes_.Add({.queue_pair = &queue_pairs_[node],
                   .node = NodeId{10 + node},
                   .region = {.address = 4096 * (node + 1), .size_bytes = 4096},
                   .offset = 64 * (node + 1)});
    }
  }

  absl::StatusOr<std::optional<NodeId>> Poll() { return probes_.Poll(transport_, zeros_, LocalKey{5}); }
  void Complete(std::uint64_t probe, WriteStatus status = WriteStatus::kDone) {
    transport_.completions.push_back({.wr_id = probe, .status = status});
  }

  std::vector<std::byte> zeros_ = std::vector<std::byte>(kBytes);
  NotingQueuePair queue_pairs_[2];
  GivenTransport transport_;
  MessageProbes probes_;
};

TEST_F(MessageProbesTest, AreOneFullSignaledWriteWithoutAnImmediateForEachQueuePair) {
  ASSERT_TRUE(Poll().ok());
  ASSERT_TRUE(Poll().ok());
  EXPECT_GT(transport_.flushes, 0);
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(queue_pairs_[i].writes.size(), 1U);
    const WriteRequest& write = queue_pairs_[i].writes[0];
    EXPECT_EQ(write.local, zeros_.data());
    EXPECT_EQ(write.length, kBytes);
    EXPECT_EQ(write.local_key, LocalKey{5});
    EXPECT_EQ(write.remote.address, 4096 * (i + 1));
    EXPECT_EQ(write.remote_offset, 64 * (i + 1));
    EXPECT_TRUE(write.signaled);
    EXPECT_FALSE(write.immediate.has_value());
  }
}

TEST_F(MessageProbesTest, AreMissingUntilEachHasArrivedInWhateverOrder) {
  EXPECT_EQ(*Poll(), NodeId{10});
  Complete(1);
  EXPECT_EQ(*Poll(), NodeId{10});
  Complete(0);
  EXPECT_EQ(*Poll(), std::nullopt);
}

TEST_F(MessageProbesTest, WaitForRoomInAQueue) {
  queue_pairs_[1].is_full = true;
  Complete(0);
  EXPECT_EQ(*Poll(), NodeId{11});
  queue_pairs_[1].is_full = false;
  Complete(1);
  EXPECT_EQ(*Poll(), std::nullopt);
}

TEST_F(MessageProbesTest, LeaveTheTransportAloneOnceAllHaveArrived) {
  Complete(0);
  Complete(1);
  ASSERT_EQ(*Poll(), std::nullopt);
  Complete(99);  // of a channel
  EXPECT_EQ(*Poll(), std::nullopt);
  EXPECT_EQ(transport_.completions.size(), 1U);
  MessageProbes none;
  EXPECT_EQ(*none.Poll(transport_, zeros_, LocalKey{5}), std::nullopt);
  EXPECT_EQ(transport_.completions.size(), 1U);
}

TEST_F(MessageProbesTest, ThatDoNotArriveNameTheNodeTheMtuAndTheCause) {
  transport_.failure = CompletionFailure(kRetryExceeded, 0x81, NodeId{11});
  Complete(1, WriteStatus::kPeerUnreachable);
  const absl::Status failure = Poll().status();
  EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 11 is connected"), HasSubstr("512"), HasSubstr("MTU"),
                                       HasSubstr("vendor error 0x81")));
}

// A smaller MTU drops packets, and nothing else.
TEST_F(MessageProbesTest, ThatFailOtherwiseDoNotNameTheMtu) {
  for (const absl::Status& cause : {absl::OkStatus(), CompletionFailure(kRemoteAccess, 0, NodeId{10}),
                                    absl::UnavailableError("the queue pair was disconnected")}) {
    transport_.failure = cause;
    Complete(0, WriteStatus::kPeerUnreachable);
    const absl::Status failure = Poll().status();
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 10 is connected"), HasSubstr(std::string(cause.message())),
                                         ::testing::Not(HasSubstr("MTU"))));
  }
}

TEST_F(MessageProbesTest, ThatFailOnThisHostSaySoAlone) {
  transport_.failure = absl::InternalError("local protection error");
  Complete(0, WriteStatus::kPeerUnreachable);
  EXPECT_EQ(Poll().status(), transport_.failure);
}

TEST_F(MessageProbesTest, EndWithTheTransportsFailure) {
  transport_.failure = absl::UnavailableError("node 10 was disconnected");
  EXPECT_EQ(Poll().status(), transport_.failure);
}

}  // namespace
}  // namespace glaive::rdma
