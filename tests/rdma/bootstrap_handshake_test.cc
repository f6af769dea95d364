// HMAC, secrets and proofs by themselves; the handshake over connections.

#include <array>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/handshake.h"
#include "rdma/bootstrap/hmac.h"
#include "rdma/bootstrap/secret.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::uint8_t> BytesOf(const std::string& text) { return {text.begin(), text.end()}; }

std::string HexOf(const Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// RFC 4231, test cases 1, 2 and 6: a short key, a short text, a key longer than a block.
TEST(Hmac, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(HexOf(HmacSha256(std::vector<std::uint8_t>(20, 0x0b), {"Hi There"})),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HexOf(HmacSha256(BytesOf("Jefe"), {"what do ya want ", "", "for nothing?"})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexOf(HmacSha256(std::vector<std::uint8_t>(131, 0xaa),
                             {"Test Using Larger Than Block-Size Key - Hash Key First"})),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secret, TakesTextWithoutTheWhiteSpaceAroundIt) {
  const std::string text(kMinSecretCharacters, 'x');
  EXPECT_EQ(Secret::FromText("  " + text + "\n")->text(), text);
}

TEST(Secret, WhatCanBeGuessedIsRefusedWithARemedy) {
  for (const std::string& text : {std::string(), std::string("\n"), std::string(kMinSecretCharacters - 1, 'x')}) {
    EXPECT_THAT(Secret::FromText(text).status().message(), HasSubstr("openssl rand -hex 32")) << text;
  }
}

TEST(Secret, OneThatIsMadeCanBeReadByAnotherProcess) {
  const Secret made = Secret::Make(FillRandomly);
  EXPECT_EQ(made.text().size(), 64U);
  EXPECT_EQ(Secret::FromText(made.text())->text(), made.text());
  EXPECT_NE(Secret::Make(FillRandomly).text(), made.text());
}

TEST(Handshake, EveryProofAndKeyIsAnotherOne) {
  Nonces nonces{.coordinator = MakeNonce(FillRandomly), .member = MakeNonce(FillRandomly)};
  const auto all = [&](const Secret& secret) {
    const SessionKeys keys = DeriveKeys(secret, nonces);
    return std::vector<Digest>{MemberProof(secret, nonces), CoordinatorProof(secret, nonces), keys.coordinator,
                               keys.member};
  };
  std::vector<Digest> seen = all(SecretOf('a'));
  for (const Digest& digest : all(SecretOf('b'))) seen.push_back(digest);
  std::swap(nonces.coordinator, nonces.member);
  for (const Digest& digest : all(SecretOf('a'))) seen.push_back(digest);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]) << i << " and " << j;
  }
}

// ---- over connections ----

TEST(BootstrapSecret, AMemberWithAnotherSecretGetsNothingAndDisturbsNobody) {
  const SteadyClock clock;
  std::mutex mutex;
  std::vector<std::string> log;
  BootstrapOptions options = Patience();
  options.log = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    if (!line.starts_with("waits at ")) log.push_back(line);
  };
  auto [address, coordinator] = CoordinateLater(2, clock, options);
  BootstrapOptions wrong = Patience(absl::Milliseconds(2500));
  wrong.secret = SecretOf('w');
  std::vector<std::string> said;
  wrong.log = [&](const std::string& line) { said.push_back(line); };
  const auto refused = ControlPlane::Join(address, HelloOf(1, 2), wrong, clock);
  EXPECT_THAT(said, testing::ElementsAre(AllOf(HasSubstr("--secret-file"), HasSubstr("tries again for at most 2.5s"))));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("did not let this node in"), HasSubstr("--secret-file")));
  const auto member = ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock);
  EXPECT_TRUE(member.ok()) << member.status();
  EXPECT_TRUE(coordinator.get().ok());
  EXPECT_THAT(log, AllOf(Not(IsEmpty()), Each(HasSubstr("was turned away: it does not know this run's secret"))));
}

TEST(BootstrapSecret, WhoIsRefusedWaitsForASecond) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(2, clock, Patience(absl::Seconds(2)));
  RawClient client(address);
  client.Send("garbage");
  const std::int64_t start_ns = clock.NowNanos();
  EXPECT_THAT(client.ReadToEnd(), AllOf(HasSubstr("challenge"), Not(HasSubstr("abort"))));
  EXPECT_GE(clock.NowNanos() - start_ns, 900'000'000);
  EXPECT_FALSE(coordinator.get().ok());
}

TEST(BootstrapSecret, AMemberTellsNothingToACoordinatorThatCannotProveToKnowIt) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  auto member = std::async(std::launch::async,
                           [&] { return ControlPlane::Join(listener.address(), HelloOf(1, 2), Patience(), clock); });
  UniqueFd accepted;
  while (!accepted.valid()) accepted = UniqueFd(::accept(listener.fd(), nullptr, nullptr));
  Connection impostor(std::move(accepted), "member", kMemberLimits);
  impostor.Send(EncodeMessage(ChallengeMessage{.nonce = MakeNonce(FillRandomly)}));
  std::optional<ControlMessage> answer;
  while (!answer.has_value()) {
    impostor.Receive();
    answer = *impostor.Next();
  }
  // The member's own proof is no proof of the coordinator's: a reflection.
  impostor.Send(EncodeMessage(AcceptMessage{.proof = std::get<AnswerMessage>(*answer).proof}));
  const auto joined = member.get();
  EXPECT_EQ(joined.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(joined.status().message(), HasSubstr("does not know this run's secret"));
  while (!impostor.ended()) impostor.Receive();
  EXPECT_FALSE((*impostor.Next()).has_value()) << "it has said who it is";
}

TEST(BootstrapSecret, WhatAMemberSaidOnceIsNoAnswerToAnotherChallenge) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(2, clock, Patience(absl::Seconds(3)));
  // Somebody has heard the answer to this challenge, and says it again.
  const Nonces heard{.coordinator = MakeNonce(FillRandomly), .member = MakeNonce(FillRandomly)};
  RawClient replay(address);
  replay.Send(EncodeMessage(AnswerMessage{.nonce = heard.member, .proof = MemberProof(SecretOf(), heard)}));
  EXPECT_THAT(replay.ReadToEnd(), Not(HasSubstr("accept")));
  EXPECT_THAT(coordinator.get().status().message(), HasSubstr("it does not know this run's secret"));
}

TEST(BootstrapSecret, AFrameThatIsPutIntoAConnectionEndsTheRun) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(2, clock);
  UniqueFd descriptor = RawClient(address).TakeDescriptor();
  const int raw = ::dup(descriptor.get());
  const UniqueFd injector(raw);
  InsideClient client(std::move(descriptor));
  client.Send(HelloOf(1, 2));
  auto plane = coordinator.get();
  ASSERT_TRUE(plane.ok()) << plane.status();
  const std::string frame = EncodeMessage(GatherMessage{.phase = "p", .payload = "x"});
  ASSERT_EQ(::send(raw, frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  EXPECT_THAT(AwaitFailure(**plane).message(), HasSubstr("somebody interferes"));
}

}  // namespace
}  // namespace glaive::rdma
