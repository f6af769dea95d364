// What comes to the coordinator's door and does not belong there.

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/clock.h"
#include "rdma/base/sanitizers.h"
#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/message.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(Admission, StrangersNeitherDelayNorEndTheStart) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  RawClient silent(address);
  RawClient garbage(address);
  garbage.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient huge(address);
  huge.Send(EncodeFrame(std::string(1 << 20, 'x'), "").substr(0, 4096));
  RawClient half(address);
  half.Send(EncodeMessage(HelloOf(1, 2)).substr(0, 20));
  RawClient impolite(address);
  impolite.Send(EncodeMessage(LeaveMessage{}));
  {
    RawClient gone(address);
  }
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  const auto coordinator =
      ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(absl::Seconds(60)), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

TEST(Admission, ASilentStrangerIsShownOutAfterFiveSeconds) {
  HandClock clock;
  std::atomic<bool> over{false};
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  RawClient silent(address);
  RawClient garbage(address);
  garbage.Send("garbage");
  auto coordinator = std::async(std::launch::async, [&] {
    return ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(absl::Seconds(60)), clock);
  });
  std::thread time([&] {
    while (!over) {
      clock.Advance(absl::Milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  // A challenge is all they get.
  EXPECT_THAT(garbage.ReadToEnd(), HasSubstr("challenge"));
  EXPECT_THAT(silent.ReadToEnd(), HasSubstr("challenge"));
  const auto ended = coordinator.get();
  over = true;
  time.join();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(ended.status().message(), HasSubstr("was turned away: it said nothing for 5s"));
}

TEST(Admission, AFloodOfStrangersLeavesRoomForTheMember) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 400; ++i) flood.push_back(std::make_unique<RawClient>(address));
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  const auto coordinator = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  EXPECT_TRUE(member.get().ok());
}

TEST(Admission, AFloodBehindAMemberDoesNotPushItOut) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it is the first in the queue, and all come at once
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 600; ++i) flood.push_back(std::make_unique<RawClient>(address));
  const auto coordinator = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

TEST(Admission, ACrowdDoesNotSendAMemberAwayInTheMiddleOfItsHandshake) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(2, clock);
  Connection member(RawClient(address).TakeDescriptor(), "coordinator", kMemberLimits);
  std::optional<ControlMessage> challenge;
  while (!challenge.has_value()) {
    member.Receive();
    challenge = *member.Next();
  }
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 400; ++i) crowd.push_back(std::make_unique<RawClient>(address));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the door takes in as many of them as it will
  const Nonces nonces{.coordinator = std::get<ChallengeMessage>(*challenge).nonce, .member = MakeNonce(FillRandomly)};
  member.Send(EncodeMessage(AnswerMessage{.nonce = nonces.member, .proof = MemberProof(SecretOf(), nonces)}));
  const SessionKeys keys = DeriveKeys(SecretOf(), nonces);
  std::optional<ControlMessage> accept;
  while (!accept.has_value() && !member.ended()) {
    member.Receive();
    accept = *member.Next();
  }
  ASSERT_TRUE(accept.has_value()) << "it was sent away: " << member.end_reason();
  member.Seal(keys.member, keys.coordinator);
  member.Send(EncodeMessage(HelloOf(1, 2)));
  EXPECT_TRUE(coordinator.get().ok());
}

TEST(Admission, AMemberThatIsSentAwayComesAgainUntilTheJoinTimeOut) {
  const SteadyClock clock;
  Listener door = BindAnywhere();
  const std::string address = door.address();
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  for (int i = 0; i < 6; ++i) {  // as a coordinator does that has no room, before the challenge and after it
    UniqueFd accepted;
    while (!accepted.valid() && member.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      accepted = UniqueFd(::accept(door.fd(), nullptr, nullptr));
    }
    ASSERT_TRUE(accepted.valid()) << "it has given up: " << member.get().status();
    if (i % 2 == 0) continue;
    const std::string challenge = EncodeMessage(ChallengeMessage{.nonce = MakeNonce(FillRandomly)});
    ASSERT_GT(::send(accepted.get(), challenge.data(), challenge.size(), MSG_NOSIGNAL), 0);
  }
  const auto coordinator = ControlPlane::Coordinate(std::move(door), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

// While it exists, the process can have so many more descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest_free = ::dup(STDERR_FILENO);
    EXPECT_EQ(::close(lowest_free), 0);
    rlimit tight = before_;
    tight.rlim_cur = static_cast<rlim_t>(lowest_free) + more;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

// Counts how often it was asked for the time.
class CountingClock final : public Clock {
 public:
  std::int64_t NowNanos() const override {
    ++asked_;
    return clock_.NowNanos();
  }
  std::uint64_t asked() const { return asked_; }

 private:
  SteadyClock clock_;
  mutable std::uint64_t asked_ = 0;
};

// UndefinedBehaviorSanitizer opens a pipe to look at an object that it meets for the first time.
constexpr char kNeedsDescriptors[] = "the sanitizer needs descriptors, too";

TEST(Admission, TooFewDescriptorsAreSaidAtOnce) {
  if (kAddressSanitizer) GTEST_SKIP() << kNeedsDescriptors;
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  RawClient at_the_door(listener.address());
  const auto coordinator = [&] {
    const FewDescriptors none(0);
    return ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  }();
  EXPECT_EQ(coordinator.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("raise ulimit -n"));
}

TEST(Admission, WaitsAndSaysSoWhileAStrangerHasTheLastDescriptor) {
  if (kAddressSanitizer) GTEST_SKIP() << kNeedsDescriptors;
  const CountingClock clock;
  Listener listener = BindAnywhere();
  RawClient stranger(listener.address());
  RawClient next(listener.address());
  std::vector<std::string> log;
  BootstrapOptions options = Patience(absl::Milliseconds(600));  // the stranger may stay for a second
  options.log = [&log](const std::string& text) { log.push_back(text); };
  const auto coordinator = [&] {
    const FewDescriptors one(1);
    return ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, options, clock);
  }();
  EXPECT_EQ(coordinator.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(log, ::testing::Contains(::testing::AllOf(HasSubstr("cannot take in another connection for now"),
                                                        HasSubstr("raise ulimit -n"))));
  EXPECT_LT(clock.asked(), 2'000U) << "it polled again and again";
}

TEST(Admission, ANodeThatDiesBeforeTheRunBeginsEndsTheStart) {
  const SteadyClock clock;
  auto [address, later] = CoordinateLater(3, clock);
  {
    InsideClient(address).Send(HelloOf(1, 3));
  }
  const auto coordinator = later.get();
  EXPECT_EQ(coordinator.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("node 1 (process 1001) was lost before the run began"));
}

TEST(Admission, AHelloOfAnotherVersionIsRefusedByName) {
  const SteadyClock clock;
  std::vector<Hello> hellos = {HelloOf(0, 2), HelloOf(1, 2)};
  hellos[1].protocol_version = 99;
  for (const PlaneOr& plane : StartNodes(hellos, clock, Patience())) {
    EXPECT_THAT(plane.status().message(), HasSubstr("rank 1 has bootstrap protocol 99"));
  }
}

TEST(Admission, TheWatchEndsTheWaitWithItsOwnError) {
  const SteadyClock clock;
  BootstrapOptions options = Patience();
  options.watch = [] { return absl::UnavailableError("rank 1 (process 7) exited with code 3"); };
  const auto coordinator = ControlPlane::Coordinate(BindAnywhere(), HelloOf(0, 2), kRunToken, options, clock);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("exited with code 3"));
}

}  // namespace
}  // namespace glaive::rdma
