// Strangers at both ends of a connection: private data that is too short, that is garbage, or that is nearly right, and
// floods of requests. None of it keeps the nodes of a run from each other, or is taken for one of them.

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/run_key.h"
#include "rdma/verbs/connect_message.h"
#include "tests/rdma/raw_connection.h"
#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> BytesOf(const ConnectMessage& message) {
  std::vector<std::byte> bytes(sizeof(message));
  std::memcpy(bytes.data(), &message, sizeof(message));
  return bytes;
}

// What a stranger may show to executor 0 of two, which waits for executor 1.
std::vector<std::vector<std::byte>> StrangePrivateData() {
  const ConnectMessage nearly_right{.from = 1, .to = 0};  // but for the token
  std::vector<std::vector<std::byte>> all = {{},
                                             {std::byte{'G'}},
                                             std::vector<std::byte>(24),
                                             std::vector<std::byte>(56, std::byte{0xff}),
                                             BytesOf(nearly_right)};
  all.push_back(BytesOf(nearly_right));
  all.back().pop_back();
  for (const auto change :
       {+[](ConnectMessage& message) { message.magic ^= 1; }, +[](ConnectMessage& message) { ++message.version; },
        +[](ConnectMessage& message) { message.from = 2; }, +[](ConnectMessage& message) { message.from = 0xffffffff; },
        +[](ConnectMessage& message) { message.from = 0; }, +[](ConnectMessage& message) { message.to = 1; }}) {
    ConnectMessage message = nearly_right;
    change(message);
    all.push_back(BytesOf(message));
  }
  return all;
}

class StrangersOverVerbs : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kDepth = 32;

  void SetUp() override {
    if (!OpenTestDevice()->info().has_immediates()) GTEST_SKIP() << "iWARP connects nobody without a queue pair";
    ASSERT_TRUE(listener_->Connect(ExecutorId{1}, node_->endpoint()).ok());
  }

  std::string Host() const { return ParseHostPort(listener_->endpoint().address).value().host; }

  // Sees the two nodes of the run through to their connection.
  void ConnectNodes() {
    ASSERT_TRUE(node_->Connect(ExecutorId{0}, listener_->endpoint()).ok());
    AwaitConnected(*listener_, *node_);
  }

  std::unique_ptr<Transport> listener_ = MakeTestTransport(TransportKind::kVerbs, 0, kDepth);
  std::unique_ptr<Transport> node_ = MakeTestTransport(TransportKind::kVerbs, 1, kDepth);
};

TEST_F(StrangersOverVerbs, AreTurnedAwayWhateverTheyShow) {
  for (const std::vector<std::byte>& shown : StrangePrivateData()) {
    RawConnection stranger;
    ASSERT_TRUE(stranger.Ask(Host(), listener_->endpoint().address, shown));
    std::optional<rdma_cm_event_type> answer;
    ASSERT_TRUE(Eventually([&] {
      EXPECT_TRUE(listener_->PollConnecting().ok());
      answer = stranger.Poll();
      return answer.has_value();
    })) << testing::PrintToString(shown);
    EXPECT_EQ(answer, RDMA_CM_EVENT_REJECTED) << testing::PrintToString(shown);
  }
  ConnectNodes();
}

TEST_F(StrangersOverVerbs, DoNotKeepNodesFromEachOtherByAFloodOfRequests) {
  constexpr std::size_t kRequests = 300;
  const std::vector<std::vector<std::byte>> shown = StrangePrivateData();
  std::deque<RawConnection> strangers;
  for (std::size_t i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(strangers.emplace_back().Ask(Host(), listener_->endpoint().address, shown[i % shown.size()])) << i;
    if (i % 3 == 0) strangers.pop_back();  // gone before it was answered
  }
  ConnectNodes();
  std::size_t rejected = 0;
  ASSERT_TRUE(Eventually([&] {
    EXPECT_TRUE(listener_->PollFailure().ok());
    for (RawConnection& stranger : strangers) {
      if (const auto answer = stranger.Poll()) {
        EXPECT_EQ(answer, RDMA_CM_EVENT_REJECTED);
        ++rejected;
      }
    }
    return rejected == strangers.size();
  })) << rejected
      << " of " << strangers.size();
}

// A listener that is none of the run's, at the address of one.
TEST_F(StrangersOverVerbs, AreNoNodesWhateverTheyAnswer) {
  for (const std::vector<std::byte>& answered : StrangePrivateData()) {
    RawConnection stranger;
    const std::string address = stranger.Listen(Host());
    ASSERT_FALSE(address.empty());
    const auto node = MakeTestTransport(TransportKind::kVerbs, 1, kDepth, Arrival::kChecksum, {7},
                                        {.join_timeout = absl::Milliseconds(100)});
    ASSERT_TRUE(node->Connect(ExecutorId{0}, {.owner = 0, .address = address}).ok());
    absl::Status refused;
    ASSERT_TRUE(Eventually([&] {
      if (stranger.Poll() == RDMA_CM_EVENT_CONNECT_REQUEST) EXPECT_TRUE(stranger.Answer(answered));
      const auto connecting = node->PollConnecting();
      refused = connecting.status();
      return !refused.ok();
    })) << testing::PrintToString(answered);
    EXPECT_THAT(refused.message(), HasSubstr(address)) << testing::PrintToString(answered);
    EXPECT_THAT(refused.message(), HasSubstr("node 0")) << testing::PrintToString(answered);
  }
}

// Node 1 writes to node 0, which still waits for node 2, while strangers show tokens that are good for something else.
TEST_F(StrangersOverVerbs, WithAStolenTokenAreTurnedAwayWhileMessagesArrive) {
  constexpr RunKey kKey{7};
  constexpr RunKey kOtherRun{8};
  constexpr std::size_t kBytes = 4096;
  const auto make = [&](std::uint32_t node) {
    return MakeTransport(TransportKind::kVerbs, {.executor = ExecutorId{node},
                                                 .executor_count = 3,
                                                 .queue_pairs = 3,
                                                 .queue_depth = kDepth,
                                                 .run_key = kKey,
                                                 .device = OpenTestDevice()})
        .value();
  };
  const auto owner = make(0);
  const auto writer = make(1);
  const auto late = make(2);
  const ExposedRegion exposed = owner->Expose(kBytes).value();
  std::vector<std::byte> local(kBytes);
  const LocalKey key = writer->Register(local).value();
  ASSERT_TRUE(owner->Connect(ExecutorId{1}, writer->endpoint()).ok());
  ASSERT_TRUE(owner->Connect(ExecutorId{2}, late->endpoint()).ok());
  QueuePair* const queue_pair = writer->Connect(ExecutorId{0}, owner->endpoint()).value();
  ASSERT_TRUE(Eventually([&] {
    const bool connected = !writer->PollConnecting().value().has_value();
    return owner->PollConnecting().value() == NodeId{2} && connected;
  }));

  const ConnectMessage replayed{.from = 1, .to = 0, .token = ConnectToken(kKey, ExecutorId{1}, ExecutorId{0})};
  const ConnectMessage other_run{.from = 2, .to = 0, .token = ConnectToken(kOtherRun, ExecutorId{2}, ExecutorId{0})};
  const ConnectMessage reflected{.from = 2, .to = 0, .token = ConnectToken(kKey, ExecutorId{0}, ExecutorId{2})};
  const ConnectMessage other_source{.from = 2, .to = 0, .token = replayed.token};
  const ConnectMessage other_place{.from = 2, .to = 0, .token = ConnectToken(kKey, ExecutorId{2}, ExecutorId{1})};
  std::uint8_t round = 0;
  for (const ConnectMessage& shown : {replayed, other_run, reflected, other_source, other_place}) {
    RawConnection stranger;
    ASSERT_TRUE(stranger.Ask(Host(), owner->endpoint().address, BytesOf(shown)));
    std::fill(local.begin(), local.end(), static_cast<std::byte>(++round));
    ASSERT_TRUE(queue_pair->TryPostWrite({.local = local.data(),
                                          .length = kBytes,
                                          .local_key = key,
                                          .remote = writer->Attach(exposed.descriptor).value(),
                                          .wr_id = round,
                                          .signaled = true}));
    writer->Flush();
    std::optional<rdma_cm_event_type> answer;
    std::size_t written = 0;
    ASSERT_TRUE(Eventually([&] {
      EXPECT_EQ(owner->PollConnecting().value(), NodeId{2});
      if (!answer.has_value()) answer = stranger.Poll();
      Completion completion;
      written += writer->PollCompletions({&completion, 1});
      return answer.has_value() && written == 1;
    })) << static_cast<int>(round);
    EXPECT_EQ(answer, RDMA_CM_EVENT_REJECTED) << static_cast<int>(round);
    EXPECT_TRUE(Eventually([&] {
      return std::ranges::all_of(exposed.memory, [&](std::byte byte) { return byte == std::byte{round}; });
    })) << static_cast<int>(round);
  }
  ASSERT_TRUE(late->Connect(ExecutorId{0}, owner->endpoint()).ok());
  AwaitConnected(*owner, *late);
  EXPECT_TRUE(writer->PollFailure().ok());
  EXPECT_TRUE(owner->PollFailure().ok());
}

// The kernel alone would repeat the first request for a minute.
TEST_F(StrangersOverVerbs, WhoDoNotAnswerAreAskedAgainWithANewRequest) {
  RawConnection silent;
  const std::string address = silent.Listen(Host());
  const auto node =
      MakeTestTransport(TransportKind::kVerbs, 1, kDepth, Arrival::kChecksum, {7}, {.join_timeout = absl::Seconds(4)});
  ASSERT_TRUE(node->Connect(ExecutorId{0}, {.owner = 0, .address = address}).ok());
  int requests = 0;
  absl::Status failure;
  ASSERT_TRUE(Eventually([&] {
    if (silent.Poll() == RDMA_CM_EVENT_CONNECT_REQUEST) ++requests;
    failure = node->PollConnecting().status();
    return !failure.ok();
  }));
  EXPECT_EQ(requests, 2) << failure;
  EXPECT_THAT(std::string(failure.message()),
              ::testing::ContainsRegex("no answer to the request .* tried 2 times in 4s"));
}

}  // namespace
}  // namespace glaive::rdma
