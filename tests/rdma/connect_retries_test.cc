#include "rdma/verbs/connect_retries.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(ConnectRetries, AreDueAfterPausesThatGrowUpToTwoSeconds) {
  ConnectRetries retries(0, absl::Seconds(60));
  std::int64_t now_ns = 0;
  for (const int pause_ms : {20, 40, 80, 160, 320, 640, 1280, 2000, 2000}) {
    retries.OnAttempt();
    EXPECT_FALSE(retries.IsDue(now_ns + 3'600'000 * kMillisecond)) << "an attempt is under way";
    retries.OnFailure(absl::UnavailableError("no"), now_ns);
    EXPECT_FALSE(retries.IsDue(now_ns + pause_ms * kMillisecond - 1)) << pause_ms;
    now_ns += pause_ms * kMillisecond;
    EXPECT_TRUE(retries.IsDue(now_ns)) << pause_ms;
  }
}

TEST(ConnectRetries, ExpireWithTheLastFailureAndTheNumberOfAttempts) {
  ConnectRetries retries(5 * kMillisecond, absl::Milliseconds(100));
  retries.OnAttempt();
  retries.OnFailure(absl::UnavailableError("no route"), 6 * kMillisecond);
  retries.OnAttempt();
  retries.OnFailure(absl::UnavailableError("no process listens there"), 30 * kMillisecond);
  EXPECT_TRUE(retries.Expired(105 * kMillisecond - 1).ok());
  const absl::Status expired = retries.Expired(105 * kMillisecond);
  EXPECT_EQ(expired, absl::UnavailableError("no process listens there; tried 2 times in 100ms (--join-timeout)"));
}

TEST(ConnectRetries, GiveUpARequestWithoutAnAnswerAfterTimesThatGrowUpToTwelveSeconds) {
  ConnectRetries retries(0, absl::Seconds(600));
  std::int64_t now_ns = 0;
  for (const int patience_s : {3, 6, 12, 12}) {
    retries.OnAttempt();
    EXPECT_FALSE(retries.IsOverdue(now_ns + 3'600'000 * kMillisecond)) << "no request is on the way";
    now_ns += 100 * kMillisecond;
    retries.OnRequest(now_ns);
    now_ns += patience_s * 1'000 * kMillisecond;
    EXPECT_FALSE(retries.IsOverdue(now_ns - 1)) << patience_s;
    EXPECT_TRUE(retries.IsOverdue(now_ns)) << patience_s;
    EXPECT_EQ(retries.NoAnswer(now_ns),
              absl::UnavailableError(absl::StrCat("no answer to the request for a connection in ", patience_s, "s")));
    retries.OnFailure(retries.NoAnswer(now_ns), now_ns);
    EXPECT_FALSE(retries.IsOverdue(now_ns)) << "it was given up";
  }
}

TEST(ConnectRetries, ARefusalLeavesThePatienceAsItIs) {
  ConnectRetries retries(0, absl::Seconds(600));
  for (int i = 0; i < 2; ++i) {
    retries.OnAttempt();
    retries.OnRequest(0);
    EXPECT_TRUE(retries.IsOverdue(3'000 * kMillisecond));
    retries.OnFailure(absl::UnavailableError("refused"), 1);
  }
}

TEST(ConnectRetries, ARequestIsOverdueWhenTimeIsUp) {
  ConnectRetries retries(0, absl::Milliseconds(500));
  retries.OnAttempt();
  retries.OnRequest(100 * kMillisecond);
  EXPECT_FALSE(retries.IsOverdue(500 * kMillisecond - 1));
  EXPECT_TRUE(retries.IsOverdue(500 * kMillisecond));
}

TEST(ConnectRetries, AStepEndsWhenTimeIsUp) {
  const ConnectRetries retries(0, absl::Seconds(6));
  EXPECT_EQ(retries.StepMillis(0), 4'000);
  EXPECT_EQ(retries.StepMillis(3'500 * kMillisecond), 2'500);
  EXPECT_EQ(retries.StepMillis(5'950 * kMillisecond), 100) << "an address nearby is resolved";
  EXPECT_EQ(retries.StepMillis(7'000 * kMillisecond), 100);
}

TEST(ConnectRetries, WithoutAFailureHaveNothingToSay) {
  ConnectRetries retries(0, absl::Milliseconds(100));
  retries.OnAttempt();
  EXPECT_TRUE(retries.Expired(3'600'000 * kMillisecond).ok());
}

}  // namespace
}  // namespace glaive::rdma
