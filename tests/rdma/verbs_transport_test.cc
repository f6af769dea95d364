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

#include "rdma/transport/immediate.h"
#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRegionBytes = 1 << 16;

class TransportOverVerbs : public ::testing::Test {
 protected:
  explicit TransportOverVerbs(Arrival arrival = Arrival::kChecksum)
      : writer_(MakeTestTransport(TransportKind::kVerbs, 1, kQueueDepth, arrival)),
        owner_(MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth, arrival)),
        exposed_(owner_->Expose(kRegionBytes).value()),
        remote_(writer_->Attach(exposed_.descriptor).value()),
        local_(kRegionBytes) {
    for (std::size_t i = 0; i < local_.size(); ++i) local_[i] = static_cast<std::byte>(i * 37 + i / 256 + 1);
    key_ = writer_->Register(local_).value();
  }

  void SetUp() override {
    queue_pair_ = writer_->Connect(ExecutorId{0}, owner_->endpoint()).value();
    ASSERT_TRUE(owner_->Connect(ExecutorId{1}, writer_->endpoint()).ok());
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

TEST_F(TransportOverVerbs, WritesExactlyTheBytesOfARequest) {
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

TEST_F(TransportOverVerbs, AnInlinePayloadMayBeReusedAtOnce) {
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

TEST_F(TransportOverVerbs, NothingLeavesBeforeItIsFlushed) {
  ASSERT_TRUE(queue_pair_->TryPostWrite(Write(100, 0, 5)));
  Completion completion;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(writer_->PollCompletions({&completion, 1}), 0U);
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
  writer_->Flush();
  ASSERT_TRUE(Eventually([&] { return writer_->PollCompletions({&completion, 1}) == 1; }));
  EXPECT_EQ(completion.wr_id, 5U);
}

TEST_F(TransportOverVerbs, ReportsSignaledWritesOnlyAndInOrder) {
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

TEST_F(TransportOverVerbs, AFullQueueIsRefusedAndTakesWritesAgainAfterCompletions) {
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

TEST_F(TransportOverVerbs, AWriteWithAForeignKeyIsRefusedByThePeersDevice) {
  WriteRequest request = Write(100, 0, 9);
  request.remote.key ^= 0xffU;
  ExpectRefused(request);
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
}

// What is sent from must not be writable from afar: its key opens nothing.
TEST_F(TransportOverVerbs, SendMemoryCannotBeWrittenByAPeer) {
  std::vector<std::byte> segments(4096);
  ASSERT_TRUE(owner_->Register(segments).ok());
  WriteRequest request = Write(100, 0, 3);
  request.remote.address = reinterpret_cast<std::uint64_t>(segments.data());
  ExpectRefused(request);
  EXPECT_EQ(segments[0], std::byte{0});
}

// Hardware says that it is a local protection error. Soft-RoCE says that the write was flushed, and soft-iWARP reports
// the queue pair by an asynchronous event.
TEST_F(TransportOverVerbs, AWriteFromUnregisteredMemoryFailsWithTheDevicesReason) {
  WriteRequest request = Write(100, 0, 4);
  request.local_key = LocalKey{static_cast<std::uint32_t>(key_) ^ 0xffU};
  EXPECT_NE(Complete(request).status, WriteStatus::kDone);
  const absl::Status failure = writer_->PollFailure();
  EXPECT_THAT(
      std::string(failure.message()),
      testing::AllOf(HasSubstr("node 0"), testing::ContainsRegex("vendor error 0x[0-9a-f]+|the device reports: ")));
  EXPECT_FALSE(queue_pair_->TryPostWrite(Write(100, 0)));
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
}

TEST_F(TransportOverVerbs, APeerThatGoesIsReportedOnceAndWritesAreTakenNoMore) {
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

TEST_F(TransportOverVerbs, RegionsThatAreNoneAreRefused) {
  EXPECT_FALSE(writer_->Attach({.owner = 0, .key = 1, .address = 4096, .size_bytes = 0}).ok());
  EXPECT_FALSE(writer_->Attach({.owner = 0, .key = std::uint64_t{1} << 32, .address = 4096, .size_bytes = 64}).ok());
  EXPECT_FALSE(writer_->Attach({.owner = 2, .key = 1, .address = 4096, .size_bytes = 64}).ok());
}

bool HasImmediates() { return OpenTestDevice()->info().has_immediates(); }

// Writes with an immediate value. A device without them refuses the transport.
class ImmediatesOverVerbs : public TransportOverVerbs {
 protected:
  ImmediatesOverVerbs() : TransportOverVerbs(HasImmediates() ? Arrival::kImmediate : Arrival::kChecksum) {}

  void SetUp() override {
    TransportOverVerbs::SetUp();
    if (!HasImmediates()) GTEST_SKIP() << "the device has no immediate values";
  }

  static std::uint32_t Message(std::uint32_t slot) { return Immediate::OfMessage(ExecutorId{1}, slot).Pack(); }
  static std::uint32_t Credit(std::uint64_t count) { return Immediate::OfCredit(ExecutorId{1}, count).Pack(); }

  bool Post(WriteRequest request, std::uint32_t immediate) {
    request.immediate = immediate;
    return queue_pair_->TryPostWrite(request);
  }

  // Waits for so many, and takes in completions meanwhile.
  std::vector<std::uint32_t> Arrivals(std::size_t count) {
    std::vector<std::uint32_t> arrived;
    EXPECT_TRUE(Eventually([&] {
      std::array<std::uint32_t, 3> immediates;
      const std::size_t now = owner_->PollArrivals(immediates);
      arrived.insert(arrived.end(), immediates.begin(), immediates.begin() + now);
      return arrived.size() >= count;
    }));
    return arrived;
  }
};

TEST_F(ImmediatesOverVerbs, ArriveInOrderBehindTheBytesOfTheirWrites) {
  constexpr std::uint32_t kBytes = 20'000;
  ASSERT_TRUE(Post(Write(kBytes, 0), Credit(1)));
  ASSERT_TRUE(Post(Write(64, kBytes), Message(7)));
  writer_->Flush();
  EXPECT_THAT(Arrivals(2), testing::ElementsAre(Credit(1), Message(7)));
  EXPECT_EQ(std::memcmp(exposed_.memory.data(), local_.data(), kBytes), 0);
  EXPECT_EQ(std::memcmp(exposed_.memory.data() + kBytes, local_.data(), 64), 0);
}

TEST_F(ImmediatesOverVerbs, NeedNoBytes) {
  ASSERT_TRUE(Post({.remote = remote_}, Credit(0xfff)));
  writer_->Flush();
  EXPECT_THAT(Arrivals(1), testing::ElementsAre(Credit(0xfff)));
  EXPECT_EQ(exposed_.memory[0], std::byte{0});
}

// The device tells who has written it. A peer cannot write in the name of another executor.
TEST_F(ImmediatesOverVerbs, ArriveInTheNameOfTheOtherEnd) {
  ASSERT_TRUE(Post({.remote = remote_}, Immediate::OfMessage(ExecutorId{77}, 5).Pack()));
  writer_->Flush();
  EXPECT_THAT(Arrivals(1), testing::ElementsAre(Message(5)));
}

TEST_F(ImmediatesOverVerbs, GoRoundTheReceiveQueueManyTimes) {
  constexpr std::uint32_t kWrites = 1'000;
  std::uint32_t posted = 0;
  std::vector<std::uint32_t> arrived;
  ASSERT_TRUE(Eventually([&] {
    // No more under way than there are receives.
    while (posted < kWrites && posted < arrived.size() + kQueueDepth && Post(Write(100, 0), Message(posted))) ++posted;
    writer_->Flush();
    std::array<Completion, 4> completions;
    EXPECT_EQ(writer_->PollCompletions(completions), 0U);
    std::array<std::uint32_t, 16> immediates;
    const std::size_t now = owner_->PollArrivals(immediates);
    arrived.insert(arrived.end(), immediates.begin(), immediates.begin() + now);
    return arrived.size() == kWrites;
  })) << posted
      << " posted, " << arrived.size() << " arrived";
  for (std::uint32_t i = 0; i < kWrites; ++i) ASSERT_EQ(arrived[i], Message(i));
}

TEST_F(ImmediatesOverVerbs, WaitWhereThereAreMoreThanReceives) {
  std::uint32_t posted = 0;
  while (Post({.remote = remote_}, Message(posted))) ++posted;  // a full send queue, and as many receives
  writer_->Flush();
  std::array<Completion, 4> completions;
  ASSERT_TRUE(Eventually([&] {
    writer_->PollCompletions(completions);
    return Post({.remote = remote_}, Message(posted));  // none is polled yet, so it has to wait
  }));
  writer_->Flush();
  const std::vector<std::uint32_t> arrived = Arrivals(posted + 1);
  for (std::uint32_t i = 0; i <= posted; ++i) ASSERT_EQ(arrived[i], Message(i));
}

TEST(TransportWithoutADevice, IsRefused) {
  EXPECT_THAT(MakeTransport(TransportKind::kVerbs, {}).status().message(), HasSubstr("no device was opened"));
}

}  // namespace
}  // namespace glaive::rdma
