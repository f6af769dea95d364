// Which channels a mesh lists as those with messages, what it makes of immediate values and of held back credits, and
// what it does where a complete write may not be in place yet.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/mesh/executor_mesh.h"
#include "rdma/transport/fabric.h"
#include "rdma/transport/immediate.h"
#include "rdma/transport/transport.h"
#include "tests/rdma/channel_pair.h"
#include "tests/rdma/hand_clock.h"
#include "tests/rdma/meshes.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

// Shared memory; what a test makes up is overridden.
class MadeUpTransport : public Transport {
 public:
  explicit MadeUpTransport(std::unique_ptr<Transport> shm) : shm_(std::move(shm)) {}

  TransportKind kind() const override { return shm_->kind(); }
  EndpointDescriptor endpoint() const override { return shm_->endpoint(); }
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override { return shm_->Expose(size_bytes); }
  absl::StatusOr<LocalKey> Register(std::span<std::byte> memory) override { return shm_->Register(memory); }
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) override { return shm_->Attach(descriptor); }
  absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) override {
    return shm_->Connect(peer, there);
  }
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override { return shm_->PollConnecting(); }
  void Flush() override { shm_->Flush(); }
  std::size_t PollCompletions(std::span<Completion> completions) override { return shm_->PollCompletions(completions); }
  bool SignalingIsFree() const override { return true; }
  absl::Status PollFailure() override { return shm_->PollFailure(); }
  Arrival arrival() const override { return Arrival::kImmediate; }
  std::size_t PollArrivals(std::span<std::uint32_t> immediates) override { return shm_->PollArrivals(immediates); }

 protected:
  Transport& shm() { return *shm_; }

 private:
  std::unique_ptr<Transport> shm_;
};

class MadeUpArrivals final : public MadeUpTransport {
 public:
  MadeUpArrivals(std::unique_ptr<Transport> shm, std::vector<std::uint32_t>& immediates)
      : MadeUpTransport(std::move(shm)), immediates_(&immediates) {}

  std::size_t PollArrivals(std::span<std::uint32_t> immediates) override {
    std::ranges::copy(*immediates_, immediates.begin());
    return std::exchange(*immediates_, {}).size();
  }

 private:
  std::vector<std::uint32_t>* immediates_;
};

// Its transports wrap those that there are, and obey `rule`.
template <typename Wrapping, typename Rule>
class WrappingFabric final : public Fabric {
 public:
  absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(TransportKind kind,
                                                           const TransportOptions& options) override {
    absl::StatusOr<std::unique_ptr<Transport>> wrapped = rdma::MakeTransport(kind, options);
    if (!wrapped.ok()) return wrapped.status();
    relaxed_ordering.push_back(options.relaxed_ordering);
    return std::make_unique<Wrapping>(*std::move(wrapped), rule);
  }
  absl::StatusOr<PageRegion> MapSegments(std::size_t size_bytes) override { return PageRegion::Map(size_bytes); }

  Rule rule{};
  std::vector<bool> relaxed_ordering;  // by transport: whether it was asked for
};

TEST(MeshArrivals, RefusesImmediateValuesThatNameNoChannel) {
  const auto error = [](Immediate immediate) {
    WrappingFabric<MadeUpArrivals, std::vector<std::uint32_t>> fabric;
    MeshOptions options = MeshOf(1, 3);
    options.fabric = &fabric;
    Meshes meshes(options, 1);
    meshes.Connect();
    EXPECT_TRUE(meshes[0].Poll().ok());
    fabric.rule = {immediate.Pack()};
    absl::Status status = meshes[0].Poll();
    EXPECT_EQ(meshes[0].Poll(), status) << "it stays failed";
    return std::string(status.message());
  };
  EXPECT_THAT(error(Immediate::OfMessage(ExecutorId{3}, 0)), HasSubstr("an immediate value of executor 3 arrived"));
  EXPECT_THAT(error(Immediate::OfCredit(ExecutorId{0}, 1)), HasSubstr("an immediate value of executor 0 arrived"));
  EXPECT_THAT(error(Immediate::OfCredit(ExecutorId{1}, 1)), HasSubstr("1 messages were consumed; expected 0 to 0"));
}

// The executors whose messages a mesh hands out, one after the other, until it has none.
std::vector<std::uint32_t> ReceiveInTurn(ExecutorMesh& mesh) {
  std::vector<std::uint32_t> peers;
  while (mesh.arrivals() > 0) {
    ChannelReceiver& receiver = mesh.NextArrival();
    EXPECT_TRUE(receiver.TryReceive().value().has_value());
    receiver.Release();
    peers.push_back(Value(receiver.peer()));
  }
  return peers;
}

TEST(MeshArrivals, ServesChannelsWithMessagesInTurn) {
  Meshes meshes(MeshOf(4, 4), 8);
  meshes.Connect();
  for (const std::uint32_t peer : {1U, 1U, 1U, 3U}) {
    ASSERT_TRUE(SendPattern(meshes[peer].segments(), meshes[peer].sender(ExecutorId{0}), 8));
  }
  EXPECT_EQ(meshes[0].arrivals(), 0U) << "Poll notices them";
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(meshes[0].arrivals(), 2U);
  EXPECT_THAT(ReceiveInTurn(meshes[0]), ::testing::ElementsAre(1, 3, 1));
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_THAT(ReceiveInTurn(meshes[0]), ::testing::ElementsAre(1));
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(meshes[0].arrivals(), 0U);
}

TEST(MeshArrivals, AMessageThatIsHeldDoesNotHideTheNextOne) {
  Meshes meshes(MeshOf(2, 2), 8);
  meshes.Connect();
  ASSERT_TRUE(SendPattern(meshes[1].segments(), meshes[1].sender(ExecutorId{0}), 8));
  ASSERT_TRUE(meshes[0].Poll().ok());
  ChannelReceiver& receiver = meshes[0].NextArrival();
  ASSERT_TRUE(receiver.TryReceive().value().has_value());
  ASSERT_TRUE(SendPattern(meshes[1].segments(), meshes[1].sender(ExecutorId{0}), 8));
  ASSERT_TRUE(meshes[0].Poll().ok());
  receiver.Release();
  EXPECT_EQ(meshes[0].arrivals(), 1U);
}

// Calls FlushCredits until it has nothing left to return, or for as long as credits are held back and some rounds more.
bool FlushCreditsOf(ExecutorMesh& mesh) {
  for (int round = 0; round < ExecutorMesh::kPatientRounds + 5; ++round) {
    if (mesh.FlushCredits()) return true;
  }
  return false;
}

TEST(MeshArrivals, ReturnsAllCreditsOnceMessagesAreReleased) {
  Meshes meshes(MeshOf(3, 3), 8);
  meshes.Connect();
  EXPECT_TRUE(meshes[0].FlushCredits());
  for (const std::uint32_t peer : {1U, 2U}) {
    ASSERT_TRUE(SendPattern(meshes[peer].segments(), meshes[peer].sender(ExecutorId{0}), 8));
  }
  ASSERT_TRUE(meshes[0].Poll().ok());
  ASSERT_TRUE(meshes[0].NextArrival().TryReceive().value().has_value());
  EXPECT_FALSE(FlushCreditsOf(meshes[0])) << "a message is held";
  meshes[0].receiver(ExecutorId{1}).Release();
  EXPECT_THAT(ReceiveInTurn(meshes[0]), ::testing::ElementsAre(2));
  EXPECT_TRUE(FlushCreditsOf(meshes[0]));
  for (const std::uint32_t peer : {1U, 2U}) {
    ASSERT_TRUE(meshes[peer].Poll().ok());
    EXPECT_EQ(meshes[peer].sender(ExecutorId{0}).consumed(), 1U);
    EXPECT_EQ(meshes[peer].in_flight(), 0U);
  }
}

TEST(MeshArrivals, HoldsCreditsBackForAsLongAsAMessageMayBringMore) {
  MeshOptions options = MeshOf(3, 3);
  options.channel.credits = 8;
  Meshes meshes(options, 16);
  meshes.Connect();
  const auto serve = [&](std::uint32_t peer) {
    ASSERT_TRUE(SendPattern(meshes[peer].segments(), meshes[peer].sender(ExecutorId{0}), 8));
    ASSERT_TRUE(meshes[0].Poll().ok());
    ReceiveInTurn(meshes[0]);
  };
  const auto writes = [&](std::uint32_t peer) { return meshes[0].receiver(ExecutorId{peer}).counters().credit_writes; };
  serve(1);
  for (int round = 1; round < ExecutorMesh::kPatientRounds; ++round) EXPECT_FALSE(meshes[0].FlushCredits());
  serve(2);  // another channel's message gives no more patience to this one
  EXPECT_EQ(writes(1), 0U);
  EXPECT_FALSE(meshes[0].FlushCredits());
  EXPECT_EQ(writes(1), 1U);
  EXPECT_EQ(writes(2), 0U);
  EXPECT_TRUE(FlushCreditsOf(meshes[0]));
  EXPECT_EQ(writes(2), 1U);
  serve(1);
  EXPECT_FALSE(meshes[0].FlushCredits());
  for (int message = 1; message < 4; ++message) serve(1);  // half of the ring
  EXPECT_EQ(writes(1), 2U) << "four messages' credits in one write";
}

// Shared memory whose send queue takes nothing while `full`.
class FullTransport final : public MadeUpTransport {
 public:
  FullTransport(std::unique_ptr<Transport> shm, const bool& full) : MadeUpTransport(std::move(shm)), full_(&full) {}

  absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) override {
    absl::StatusOr<QueuePair*> connected = shm().Connect(peer, there);
    if (!connected.ok()) return connected;
    queue_pairs_.push_back(std::make_unique<FullQueuePair>(**connected, *full_));
    return queue_pairs_.back().get();
  }

 private:
  class FullQueuePair final : public QueuePair {
   public:
    FullQueuePair(QueuePair& shm, const bool& full) : shm_(&shm), full_(&full) {}
    bool TryPostWrite(const WriteRequest& request) override { return !*full_ && shm_->TryPostWrite(request); }

   private:
    QueuePair* shm_;
    const bool* full_;
  };

  const bool* full_;
  std::vector<std::unique_ptr<QueuePair>> queue_pairs_;
};

// An executor that is busy with other channels does not flush credits by itself.
TEST(MeshArrivals, PollReturnsCreditsThatFoundTheSendQueueFull) {
  WrappingFabric<FullTransport, bool> fabric;
  MeshOptions options = MeshOf(1, 2);
  options.fabric = &fabric;
  Meshes meshes(options, 8);
  meshes.Connect();
  for (std::uint32_t i = 0; i < options.channel.credits; ++i) {
    ASSERT_TRUE(SendPattern(meshes[1].segments(), meshes[1].sender(ExecutorId{0}), 8));
  }
  fabric.rule = true;  // full
  for (std::uint32_t i = 0; i < options.channel.credits; ++i) {
    ASSERT_TRUE(meshes[0].Poll().ok());
    ReceiveInTurn(meshes[0]);
  }
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(meshes[0].receiver(ExecutorId{1}).received(), options.channel.credits);
  EXPECT_EQ(meshes[0].receiver(ExecutorId{1}).counters().credit_writes, 0U);
  fabric.rule = false;
  ASSERT_TRUE(meshes[0].Poll().ok());
  ASSERT_TRUE(meshes[1].Poll().ok());
  EXPECT_EQ(meshes[1].sender(ExecutorId{0}).consumed(), options.channel.credits);
}

struct PolledMemory {
  bool completion_frees_memory = true;
  std::vector<std::span<std::byte>> exposed{};  // by executor, where each has one transport
};

// Shared memory whose messages are polled, as with --arrival=poll.
class PolledTransport final : public MadeUpTransport {
 public:
  PolledTransport(std::unique_ptr<Transport> shm, PolledMemory& memory)
      : MadeUpTransport(std::move(shm)), memory_(&memory) {}

  Arrival arrival() const override { return Arrival::kChecksum; }
  bool CompletionFreesMemory() const override { return memory_->completion_frees_memory; }
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override {
    absl::StatusOr<ExposedRegion> exposed = shm().Expose(size_bytes);
    if (exposed.ok()) memory_->exposed.push_back(exposed->memory);
    return exposed;
  }

 private:
  PolledMemory* memory_;
};

using PolledFabric = WrappingFabric<PolledTransport, PolledMemory>;

bool LiesIn(std::span<const std::byte> payload, std::span<const std::byte> memory) {
  return payload.data() >= memory.data() && payload.data() + payload.size() <= memory.data() + memory.size();
}

// Sends so many messages from executor 1 to executor 0, which receives them. Where their payloads lay.
std::vector<std::span<const std::byte>> SendPolled(Meshes& meshes, std::uint32_t messages) {
  std::vector<std::span<const std::byte>> payloads;
  for (std::uint32_t i = 0; i < messages; ++i) {
    EXPECT_TRUE(SendPattern(meshes[1].segments(), meshes[1].sender(ExecutorId{0}), 8));
    EXPECT_TRUE(meshes[0].Poll().ok());
    EXPECT_EQ(meshes[0].arrivals(), 1U);
    ChannelReceiver& receiver = meshes[0].NextArrival();
    const Message message = receiver.TryReceive().value().value();
    EXPECT_TRUE(HasPattern(message.payload, message.number));
    payloads.push_back(message.payload);
    receiver.Release();
    EXPECT_TRUE(meshes[1].Poll().ok());
  }
  return payloads;
}

struct PolledCase {
  bool relaxed_ordering = false;
  bool completion_frees_memory = true;
  bool is_late() const { return relaxed_ordering || !completion_frees_memory; }
};
/// The options of two executors over `fabric`, which behaves as the case says.
MeshOptions OptionsOf(const PolledCase& polled, PolledFabric& fabric) {
  fabric.rule.completion_frees_memory = polled.completion_frees_memory;
  MeshOptions options = MeshOf(1, 2);
  options.fabric = &fabric;
  options.relaxed_ordering = polled.relaxed_ordering;
  return options;
}

constexpr PolledCase kPolledCases[] = {{}, {.relaxed_ordering = true}, {.completion_frees_memory = false}};

TEST(MeshArrivals, ReadsACopyOfAPolledMessageWhereACompleteWriteMayNotBeInPlace) {
  for (const PolledCase& each : kPolledCases) {
    PolledFabric fabric;
    Meshes meshes(OptionsOf(each, fabric), 8);
    meshes.Connect();
    EXPECT_THAT(fabric.relaxed_ordering, ::testing::ElementsAre(each.relaxed_ordering, each.relaxed_ordering));
    for (const MeshDescriptor& descriptor : meshes.descriptors()) {
      EXPECT_EQ(descriptor.exposures[0].may_be_late, each.is_late());
    }
    for (const std::span<const std::byte> payload : SendPolled(meshes, 1)) {
      EXPECT_EQ(LiesIn(payload, fabric.rule.exposed[0]), !each.is_late());
    }
  }
}

TEST(MeshArrivals, PassesOverAnOlderCountOfCreditsWhereACompleteWriteMayNotBeInPlace) {
  for (const PolledCase& each : kPolledCases) {
    PolledFabric fabric;
    Meshes meshes(OptionsOf(each, fabric), 8);
    meshes.Connect();
    SendPolled(meshes, 2);  // half of the ring, so their credits come back
    ASSERT_EQ(meshes[1].sender(ExecutorId{0}).consumed(), 2U);
    constexpr std::uint64_t kOlder = 1;
    std::memcpy(fabric.rule.exposed[1].data(), &kOlder, sizeof(kOlder));
    EXPECT_EQ(meshes[1].Poll().ok(), each.is_late());
  }
}

// Relaxed ordering is each node's own choice.
TEST(MeshArrivals, RepeatsCountsOfCreditsToThosePeersAloneWhoseMemoryMayBeLate) {
  PolledFabric fabric;
  HandClock clock;
  MeshOptions options = MeshOf(1, 3);
  options.fabric = &fabric;
  options.clock = &clock;
  Meshes meshes(options, 8);
  meshes.descriptors()[1].exposures[0].may_be_late = true;
  meshes.Connect();
  for (const std::uint32_t peer : {1U, 2U, 1U, 2U}) {
    ASSERT_TRUE(SendPattern(meshes[peer].segments(), meshes[peer].sender(ExecutorId{0}), 8));
    ASSERT_TRUE(meshes[0].Poll().ok());
    ReceiveInTurn(meshes[0]);
  }
  const auto writes = [&](std::uint32_t peer) { return meshes[0].receiver(ExecutorId{peer}).counters().credit_writes; };
  ASSERT_TRUE(meshes[0].Poll().ok());  // takes in the completions
  EXPECT_EQ(writes(1), 1U);
  EXPECT_EQ(writes(2), 1U);
  clock.Advance(absl::Nanoseconds(ChannelReceiver::kFirstRepeatNanos));
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(writes(1), 2U);
  EXPECT_EQ(writes(2), 1U);
}

// A peer would take the second immediate value for 4096 more messages.
TEST(MeshArrivals, NeverRepeatsAnImmediateValueWhateverAPeerSaysOfItsMemory) {
  HandClock clock;
  MeshOptions options = MeshOf(1, 2);
  options.clock = &clock;
  Meshes meshes(options, 8);
  meshes.descriptors()[1].exposures[0].may_be_late = true;
  meshes.Connect();
  SendPolled(meshes, 2);
  clock.Advance(absl::Seconds(1));
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(meshes[0].receiver(ExecutorId{1}).counters().credit_writes, 1U);
  EXPECT_TRUE(meshes[1].Poll().ok());
}

}  // namespace
}  // namespace glaive::rdma
