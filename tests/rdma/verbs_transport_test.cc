// The transport over a real (or emulated) RDMA device, both ends in this process.

#include "rdma/verbs/verbs_transport.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kQueueDepth = 32;
constexpr std::size_t kRegionBytes = 1 << 16;

class TransportOverVerbs : public ::testing::TestWithParam<WriteMode> {
 protected:
  TransportOverVerbs()
      : writer_(MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth, GetParam())),
        owner_(MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth, GetParam())),
        exposed_(owner_->Expose(kRegionBytes).value()),
        remote_(writer_->Attach(exposed_.descriptor).value()),
        local_(kRegionBytes) {
    for (std::size_t i = 0; i < local_.size(); ++i) local_[i] = static_cast<std::byte>(i * 37 + i / 256 + 1);
    key_ = writer_->Register(local_).value();
  }

  void SetUp() override {
    queue_pair_ = writer_->Connect(NodeId{0}, owner_->endpoint()).value();
    ASSERT_TRUE(owner_->Connect(NodeId{1}, writer_->endpoint()).ok());
    AwaitConnected(*writer_, *owner_);
  }

  WriteRequest Write(std::uint32_t length, std::uint64_t offset, std::uint64_t wr_id = 0) const {
    return {.local = local_.data(),
            .length = length,
            .local_key = key_,
            .remote = remote_,
            .remote_offset = offset,
            .wr_id = wr_id,
            .signaled = wr_id != 0};
  }

  // Posts and waits for the completion.
  Completion Complete(const WriteRequest& request) {
    EXPECT_TRUE(queue_pair_->TryPostWrite(request));
    writer_->Flush();
    Completion completion;
    EXPECT_TRUE(Eventually([&] { return writer_->PollCompletions({&completion, 1}) == 1; }));
    return completion;
  }

  // InfiniBand and RoCE say so in the completion; iWARP takes the connection down.
  void ExpectRefused(const WriteRequest& request) {
    const Completion completion = Complete(request);
    EXPECT_EQ(completion.wr_id, request.wr_id);
    EXPECT_TRUE(completion.status != WriteStatus::kDone || Eventually([&] { return !writer_->PollFailure().ok(); }));
  }

  ExpectDeviceTraffic traffic_{1};
  std::unique_ptr<Transport> writer_;
  std::unique_ptr<Transport> owner_;
  ExposedRegion exposed_;
  RemoteRegion remote_;
  std::vector<std::byte> local_;
  LocalKey key_{};
  QueuePair* queue_pair_ = nullptr;
};

TEST_P(TransportOverVerbs, WritesExactlyTheBytesOfARequest) {
  for (const std::uint32_t length : {1U, 7U, 8U, 63U, 64U, 65U, 128U, 1000U, 4096U, 4097U, 20000U}) {
    std::memset(exposed_.memory.data(), 0, exposed_.memory.size());
    const Completion completion = Complete(Write(length, 256, length));
    EXPECT_EQ(completion.wr_id, length);
    EXPECT_EQ(completion.status, WriteStatus::kDone);
    EXPECT_EQ(std::memcmp(exposed_.memory.data() + 256, local_.data(), length), 0) << length;
    EXPECT_EQ(exposed_.memory[255], std::byte{0}) << length;
    EXPECT_EQ(exposed_.memory[256 + length], std::byte{0}) << length;
  }
}

TEST_P(TransportOverVerbs, AnInlinePayloadMayBeReusedAtOnce) {
  std::uint64_t word = 0x1111111111111111;
  WriteRequest request = Write(8, 64);
  request.local = reinterpret_cast<const std::byte*>(&word);
  request.inline_payload = true;
  ASSERT_TRUE(queue_pair_->TryPostWrite(request));
  word = 0x2222222222222222;
  writer_->Flush();
  auto* const there = reinterpret_cast<std::uint64_t*>(exposed_.memory.data() + 64);
  ASSERT_TRUE(Eventually([&] { return std::atomic_ref<std::uint64_t>(*there).load() != 0; }));
  EXPECT_EQ(*there, 0x1111111111111111U);
}

TEST_P(TransportOverVerbs, NothingLeavesBeforeItIsFlushed) {
  ASSERT_TRUE(queue_pair_->TryPostWrite(Write(100, 0, 5)));
  Completion completion;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(writer_->PollCompletions({&completion, 1}), 0U);
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
  writer_->Flush();
  ASSERT_TRUE(Eventually([&] { return writer_->PollCompletions({&completion, 1}) == 1; }));
  EXPECT_EQ(completion.wr_id, 5U);
}

TEST_P(TransportOverVerbs, ReportsSignaledWritesOnlyAndInOrder) {
  std::vector<std::uint64_t> reported;
  std::uint64_t posted = 0;
  ASSERT_TRUE(Eventually([&] {
    // Every third write is signaled; the queue is filled again and again, many times its depth.
    if (posted < 1000) {
      WriteRequest request = Write(200, posted % 64 * 256, posted + 1);
      request.signaled = (posted + 1) % 3 == 0;
      if (queue_pair_->TryPostWrite(request)) ++posted;
    }
    writer_->Flush();
    std::array<Completion, 4> completions;
    const std::size_t count = writer_->PollCompletions(completions);
    for (std::size_t i = 0; i < count; ++i) reported.push_back(completions[i].wr_id);
    return posted == 1000 && reported.size() == 333;
  })) << posted
      << " posted, " << reported.size() << " reported";
  for (std::size_t i = 0; i < reported.size(); ++i) ASSERT_EQ(reported[i], 3 * (i + 1));
}

TEST_P(TransportOverVerbs, AFullQueueIsRefusedAndTakesWritesAgainAfterCompletions) {
  std::uint32_t taken = 0;
  while (queue_pair_->TryPostWrite(Write(100, 0))) ASSERT_LE(++taken, kQueueDepth);
  EXPECT_GE(taken, kQueueDepth / 2);
  writer_->Flush();
  std::array<Completion, 4> completions;
  ASSERT_TRUE(Eventually([&] {
    EXPECT_EQ(writer_->PollCompletions(completions), 0U);  // nobody asked
    return queue_pair_->TryPostWrite(Write(100, 0));
  }));
}

TEST_P(TransportOverVerbs, AWriteWithAForeignKeyIsRefusedByThePeersDevice) {
  WriteRequest request = Write(100, 0, 9);
  request.remote.key ^= 0xffU;
  ExpectRefused(request);
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
}

// What is sent from must not be writable from afar: its key opens nothing.
TEST_P(TransportOverVerbs, SendMemoryCannotBeWrittenByAPeer) {
  std::vector<std::byte> segments(4096);
  ASSERT_TRUE(owner_->Register(segments).ok());
  WriteRequest request = Write(100, 0, 3);
  request.remote.address = reinterpret_cast<std::uint64_t>(segments.data());
  ExpectRefused(request);
  EXPECT_EQ(segments[0], std::byte{0});
}

TEST_P(TransportOverVerbs, APeerThatGoesIsReportedOnceAndWritesAreTakenNoMore) {
  owner_.reset();
  absl::Status failure;
  ASSERT_TRUE(Eventually([&] {
    failure = writer_->PollFailure();
    return !failure.ok();
  }));
  EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failure.message(), HasSubstr("node 0"));
  EXPECT_TRUE(writer_->PollFailure().ok());
  EXPECT_FALSE(queue_pair_->TryPostWrite(Write(100, 0)));
}

TEST_P(TransportOverVerbs, RegionsThatAreNoneAreRefused) {
  EXPECT_FALSE(writer_->Attach({.owner = 0, .key = 1, .address = 4096, .size_bytes = 0}).ok());
  EXPECT_FALSE(writer_->Attach({.owner = 0, .key = std::uint64_t{1} << 32, .address = 4096, .size_bytes = 64}).ok());
}

INSTANTIATE_TEST_SUITE_P(Modes, TransportOverVerbs, ::testing::Values(WriteMode::kWhole, WriteMode::kSplit),
                         [](const auto& test) { return test.param == WriteMode::kWhole ? "Whole" : "Split"; });

TEST(ConnectOverVerbs, AnotherRunIsTurnedAway) {
  const auto listener = MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth, WriteMode::kWhole, /*run_token=*/1);
  const auto stranger = MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth, WriteMode::kWhole, /*run_token=*/2);
  ASSERT_TRUE(listener->Connect(NodeId{1}, stranger->endpoint()).ok());
  ASSERT_TRUE(stranger->Connect(NodeId{0}, listener->endpoint()).ok());
  absl::Status refused;
  ASSERT_TRUE(Eventually([&] {
    EXPECT_TRUE(listener->PollConnecting().ok());
    refused = stranger->PollConnecting().status();
    return !refused.ok();
  }));
  EXPECT_THAT(refused.message(), HasSubstr("refused"));
  EXPECT_EQ(listener->PollConnecting().value(), NodeId{1});  // still waiting for the real one
}

TEST(ConnectOverVerbs, ATokenIsGoodForOneConnection) {
  const auto listener = MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth);
  const auto first = MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth);
  ASSERT_TRUE(listener->Connect(NodeId{1}, first->endpoint()).ok());
  ASSERT_TRUE(first->Connect(NodeId{0}, listener->endpoint()).ok());
  AwaitConnected(*listener, *first);
  const auto second = MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth);  // the same node, run and token
  ASSERT_TRUE(second->Connect(NodeId{0}, listener->endpoint()).ok());
  absl::Status refused;
  ASSERT_TRUE(Eventually([&] {
    EXPECT_TRUE(listener->PollFailure().ok());
    refused = second->PollConnecting().status();
    return !refused.ok();
  }));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr("refused"));
}

TEST(ConnectOverVerbs, AnExecutorReachesItself) {
  const auto transport = MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth);
  const ExposedRegion exposed = transport->Expose(4096).value();
  std::vector<std::byte> local(64, std::byte{5});
  const LocalKey key = transport->Register(local).value();
  QueuePair* const queue_pair = transport->Connect(NodeId{0}, transport->endpoint()).value();
  AwaitConnected(*transport, *transport);
  ASSERT_TRUE(queue_pair->TryPostWrite({.local = local.data(),
                                        .length = 64,
                                        .local_key = key,
                                        .remote = transport->Attach(exposed.descriptor).value()}));
  transport->Flush();
  EXPECT_TRUE(Eventually(
      [&] { return std::atomic_ref(*reinterpret_cast<std::uint8_t*>(exposed.memory.data() + 63)).load() == 5; }));
}

TEST(ConnectOverVerbs, NobodyAtTheAddressIsSaidWithARemedy) {
  const auto transport = MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth);
  std::string address = transport->endpoint().address;
  address = address.substr(0, address.rfind(':')) + ":9";
  ASSERT_TRUE(transport->Connect(NodeId{0}, {.owner = 0, .address = address}).ok());
  absl::Status failed;
  ASSERT_TRUE(Eventually([&] {
    failed = transport->PollConnecting().status();
    return !failed.ok();
  }));
  EXPECT_THAT(failed.message(), HasSubstr(address));
}

TEST(DeviceOverVerbs, DescribesWhatWasOpened) {
  const VerbsDeviceInfo info = OpenTestDevice()->info();
  EXPECT_FALSE(info.device.empty());
  EXPECT_GE(info.port, 1U);
  EXPECT_GE(info.mtu_bytes, 256U);
  EXPECT_LE(info.mtu_bytes, 4096U);
  EXPECT_GT(info.max_queue_depth, 0U);
  EXPECT_THAT(info.Describe(), HasSubstr(info.address));
  const auto by_address = VerbsDevice::Open({.device = "", .address = info.address});
  ASSERT_TRUE(by_address.ok()) << by_address.status();
  EXPECT_EQ((*by_address)->info().device, info.device);
}

TEST(DeviceOverVerbs, UnknownNamesAndAddressesAreRefusedWithWhatThereIs) {
  const std::string device = OpenTestDevice()->info().device;
  const absl::Status no_device = VerbsDevice::Open({.device = "mlx9_9", .address = ""}).status();
  EXPECT_THAT(no_device.message(), testing::AllOf(HasSubstr("--device=mlx9_9"), HasSubstr(device)));
  const absl::Status no_address = VerbsDevice::Open({.device = "", .address = "192.0.2.7"}).status();
  EXPECT_THAT(no_address.message(), testing::AllOf(HasSubstr("--bind=192.0.2.7"), HasSubstr(device)));
}

TEST(DeviceOverVerbs, QueuesBeyondTheDeviceAreRefusedWithItsLimits) {
  const TransportOptions options{.queue_depth = 1U << 30, .device = OpenTestDevice()};
  EXPECT_THAT(MakeTransport(TransportKind::kVerbs, options).status().message(),
              testing::AllOf(HasSubstr("has at most"), HasSubstr("--credits")));
}

TEST(TransportWithoutADevice, IsRefused) {
  EXPECT_THAT(MakeTransport(TransportKind::kVerbs, {}).status().message(), HasSubstr("no device was opened"));
}

}  // namespace
}  // namespace glaive::rdma
