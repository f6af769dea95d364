#include "rdma/verbs/queue_pair_failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Values of ibv_event_type, which are part of the verbs' binary interface.
constexpr int kQueuePairFatal = 1;
constexpr int kRequestError = 2;
constexpr int kAccessError = 3;

TEST(QueuePairFailure, OfARequestOfThePeerIsThePeersFault) {
  for (const int event : {kRequestError, kAccessError}) {
    const absl::Status failure = QueuePairFailure(event);
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable) << failure;
    EXPECT_THAT(failure.message(), AllOf(HasSubstr("the device reports: "), HasSubstr("that node"))) << failure;
  }
  EXPECT_THAT(QueuePairFailure(kAccessError).message(), HasSubstr("a write of that node to memory"));
}

TEST(QueuePairFailure, OfTheQueuePairItselfIsThisHosts) {
  const absl::Status failure = QueuePairFailure(kQueuePairFatal);
  EXPECT_EQ(failure.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failure.message(), ::testing::Not(HasSubstr("that node")));
}

}  // namespace
}  // namespace glaive::rdma
