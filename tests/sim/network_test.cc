// The simulated network keeps what a reliable connection promises, and nothing more.

#include "tests/sim/network.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kRegionBytes = 4096;

class NetworkTest : public ::testing::Test, public NetworkObserver {
 protected:
  struct End {
    std::unique_ptr<rdma::Transport> transport;
    rdma::ExposedRegion exposed;
    rdma::QueuePair* queue_pair = nullptr;
    rdma::RemoteRegion remote;
  };

  void OnArrival(NodeId /*from*/, NodeId /*to*/, std::size_t arrived, std::size_t /*length*/) override {
    arrivals_.push_back(arrived);
  }
  void OnViolation(const std::string& what) override { violations_.push_back(what); }

  // Two nodes, connected.
  void Connect(const NetworkOptions& options, std::uint32_t queue_depth = 16, bool relaxed_ordering = false) {
    ends_ = {};  // they use the network before
    network_ = std::make_unique<Network>(options, time_, Random(7, Purpose::kNetwork), *this);
    for (std::uint32_t node = 0; node < 2; ++node) {
      End& end = ends_[node];
      end.transport = network_->MakeTransport(
          rdma::TransportKind::kVerbs,
          {.executor = ExecutorId{node}, .queue_depth = queue_depth, .relaxed_ordering = relaxed_ordering}, {});
      end.exposed = *end.transport->Expose(kRegionBytes);
      ASSERT_TRUE(end.transport->Register(source_).ok());
    }
    for (std::uint32_t node = 0; node < 2; ++node) {
      End& end = ends_[node];
      End& other = ends_[1 - node];
      end.queue_pair = *end.transport->Connect(ExecutorId{1 - node}, other.transport->endpoint());
      end.remote = *end.transport->Attach(other.exposed.descriptor);
    }
    time_.Advance(options.latency_ns + 1'000'000);
    ASSERT_FALSE((*ends_[0].transport->PollConnecting()).has_value());
  }

  bool Post(std::uint64_t offset, std::uint32_t length, std::uint64_t id, bool signaled = true) {
    const bool posted = ends_[0].queue_pair->TryPostWrite({.local = source_.data(),
                                                           .length = length,
                                                           .remote = ends_[0].remote,
                                                           .remote_offset = offset,
                                                           .wr_id = id,
                                                           .signaled = signaled});
    ends_[0].transport->Flush();
    return posted;
  }
  bool PostCount(std::uint64_t count) {
    const bool posted = ends_[0].queue_pair->TryPostWrite({.local = reinterpret_cast<const std::byte*>(&count),
                                                           .length = sizeof(count),
                                                           .remote = ends_[0].remote,
                                                           .wr_id = count,
                                                           .signaled = true,
                                                           .inline_payload = true});
    ends_[0].transport->Flush();
    return posted;
  }
  // As the other end sees it.
  std::uint64_t Count() const {
    std::uint64_t count = 0;
    std::memcpy(&count, ends_[1].exposed.memory.data(), sizeof(count));
    return count;
  }
  // How often one of so many counts was less than the one that was seen before it.
  int CountsThatGoBack(std::uint64_t counts) {
    int back = 0;
    std::uint64_t last = 0;
    for (std::uint64_t count = 1; count <= counts; ++count) {
      EXPECT_TRUE(PostCount(count));
      DeliverAll();
      EXPECT_THAT(Completed(), ElementsAre(count)) << "whether it is in place or not";
      back += Count() < last ? 1 : 0;
      last = Count();
    }
    return back;
  }
  void DeliverAll() {
    time_.Advance(1'000'000);
    while (network_->Deliver()) {
    }
  }
  std::vector<std::uint64_t> Completed() {
    time_.Advance(1'000'000);
    std::array<rdma::Completion, 32> completions;
    std::vector<std::uint64_t> ids;
    const std::size_t count = ends_[0].transport->PollCompletions(completions);
    for (std::size_t i = 0; i < count; ++i) ids.push_back(completions[i].wr_id);
    return ids;
  }

  VirtualTime time_;
  alignas(64) std::array<std::byte, 1024> source_{};
  std::vector<std::size_t> arrivals_;
  std::vector<std::string> violations_;
  std::unique_ptr<Network> network_;
  std::array<End, 2> ends_;
};

TEST_F(NetworkTest, ReadsTheSourceWhenAWriteIsDelivered) {
  Connect({.latency_ns = 100});
  source_.fill(std::byte{1});
  ASSERT_TRUE(Post(0, 64, 1));
  source_.fill(std::byte{2});
  EXPECT_EQ(ends_[1].exposed.memory[0], std::byte{0}) << "nothing has arrived yet";
  DeliverAll();
  EXPECT_EQ(ends_[1].exposed.memory[63], std::byte{2});
  EXPECT_EQ(ends_[1].exposed.memory[64], std::byte{0});
}

TEST_F(NetworkTest, LetsAWriteArriveInPiecesInTheOrderOfAddresses) {
  Connect({.latency_ns = 100, .piece_bytes = 64});
  source_.fill(std::byte{9});
  const auto& memory = ends_[1].exposed.memory;
  int torn = 0;
  for (std::uint64_t write = 1; write <= 20; ++write) {
    std::ranges::fill(memory, std::byte{0});
    ASSERT_TRUE(Post(32, 1000, write));
    time_.Advance(1'000'000);
    while (network_->Deliver()) {
      const auto arrived = static_cast<std::ptrdiff_t>(arrivals_.back());
      EXPECT_TRUE(
          std::all_of(memory.begin() + 32, memory.begin() + 32 + arrived, [](auto b) { return b == std::byte{9}; }));
      EXPECT_TRUE(std::all_of(memory.begin() + 32 + arrived, memory.end(), [](auto b) { return b == std::byte{0}; }));
      EXPECT_TRUE(arrived == 1000 || (arrived + 32) % 64 == 0) << "pieces end at lines of the other end";
      torn += arrived < 1000 ? 1 : 0;
    }
    EXPECT_THAT(Completed(), ElementsAre(write));
  }
  EXPECT_GT(torn, 0);
}

TEST_F(NetworkTest, PlacesBytesThatChangeNothingLastInAnyOrder) {
  Connect({.latency_ns = 100, .piece_bytes = 64, .any_order = true});
  source_.fill(std::byte{9});
  const auto& memory = ends_[1].exposed.memory;
  int seen_before_complete = 0;
  for (std::uint64_t write = 1; write <= 20; ++write) {
    std::ranges::fill(memory.first(512), std::byte{9});
    std::ranges::fill(memory.subspan(512), std::byte{0});
    ASSERT_TRUE(Post(0, 1024, write));
    time_.Advance(1'000'000);
    bool is_seen = false;
    while (network_->Deliver()) {
      const bool is_whole =
          std::all_of(memory.begin(), memory.begin() + 1024, [](auto b) { return b == std::byte{9}; });
      is_seen = is_seen || (is_whole && arrivals_.back() < 1024);
    }
    EXPECT_THAT(Completed(), ElementsAre(write));
    seen_before_complete += is_seen ? 1 : 0;
  }
  EXPECT_GT(seen_before_complete, 15);
}

TEST_F(NetworkTest, PlacesOlderCountsLastWhereACompleteWriteMayNotBeInPlace) {
  constexpr std::int64_t kLatestNs = 5'000'000;
  for (const bool frees_memory : {false, true}) {
    Connect({.latency_ns = 100, .completion_frees_memory = frees_memory, .latest_count_ns = kLatestNs},
            /*queue_depth=*/16, /*relaxed_ordering=*/frees_memory);
    EXPECT_GT(CountsThatGoBack(200), 0);
    EXPECT_GT(network_->overwritten_counts(), 10U) << "also those that nobody saw in between";
    time_.Advance(kLatestNs);
    DeliverAll();
    EXPECT_GT(Count(), 195U) << "counts come every two milliseconds, and are late for five at most";
  }
}

TEST_F(NetworkTest, PlacesCountsInOrderElsewhere) {
  Connect({.latency_ns = 100, .latest_count_ns = 5'000'000});
  EXPECT_EQ(CountsThatGoBack(200), 0);
  EXPECT_EQ(network_->overwritten_counts(), 0U);
}

TEST_F(NetworkTest, CompletesWhatIsSignaledInOrderAndFreesPlacesWithIt) {
  Connect({.latency_ns = 100, .completion_ns = 1000}, /*queue_depth=*/3);
  EXPECT_TRUE(Post(0, 8, 1));
  EXPECT_TRUE(Post(8, 8, 2, /*signaled=*/false));
  EXPECT_TRUE(Post(16, 8, 3));
  EXPECT_FALSE(Post(24, 8, 4)) << "the queue is full";
  DeliverAll();
  EXPECT_THAT(Completed(), ElementsAre(1, 3));
  EXPECT_TRUE(Post(24, 8, 4));
}

TEST_F(NetworkTest, RefusesWritesThatNoNicWouldCarryOut) {
  Connect({});
  ends_[0].remote.size_bytes = 1 << 20;  // what the other end never said
  ASSERT_TRUE(Post(kRegionBytes - 8, 64, 1));
  DeliverAll();
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("outside of the region")));
  violations_.clear();
  Connect({});
  ends_[0].remote.key = 77;
  ASSERT_TRUE(Post(0, 64, 1));
  DeliverAll();
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("nobody has given out")));
}

TEST_F(NetworkTest, NoticesASourceThatIsNotRegistered) {
  Connect({});
  std::array<std::byte, 64> elsewhere{};
  (void)ends_[0].queue_pair->TryPostWrite({.local = elsewhere.data(), .length = 64, .remote = ends_[0].remote});
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("not registered")));
}

TEST_F(NetworkTest, TellsOfAKilledNodeAndCompletesWhatWasUnderWay) {
  Connect({.latency_ns = 1'000'000'000});
  ASSERT_TRUE(Post(0, 64, 5, /*signaled=*/false));
  network_->Kill(NodeId{1}, /*quietly=*/false);
  EXPECT_THAT(Completed(), ElementsAre(5)) << "a write that failed has a completion in any case";
  EXPECT_THAT(ends_[0].transport->PollFailure().message(), HasSubstr("node 1"));
  EXPECT_TRUE(ends_[0].transport->PollFailure().ok()) << "told once";
}

TEST_F(NetworkTest, GivesUpAWriteThatNobodyAnswers) {
  Connect({.retries_ns = 50'000'000});
  network_->Kill(NodeId{1}, /*quietly=*/true);
  ASSERT_TRUE(Post(0, 64, 5));
  DeliverAll();
  EXPECT_TRUE(ends_[0].transport->PollFailure().ok());
  EXPECT_LE(network_->NextDueNs(), time_.now_ns() + 50'000'000);
  time_.Advance(60'000'000);
  EXPECT_FALSE(network_->Deliver());
  EXPECT_THAT(ends_[0].transport->PollFailure().message(), HasSubstr("node 1"));
}

TEST_F(NetworkTest, HoldsWritesBetweenTwoNodesForAWhile) {
  Connect({.retries_ns = 1'000'000'000});
  network_->Hold(NodeId{0}, NodeId{1}, time_.now_ns() + 100'000'000);
  ASSERT_TRUE(Post(0, 64, 5));
  DeliverAll();
  EXPECT_THAT(arrivals_, SizeIs(0));
  time_.Advance(100'000'000);
  DeliverAll();
  EXPECT_EQ(arrivals_.back(), 64U);
}

}  // namespace
}  // namespace glaive::sim
