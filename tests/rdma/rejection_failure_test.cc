#include "rdma/verbs/rejection_failure.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(RejectionFailure, SaysWhetherAProcessListensThere) {
  for (const int status : {8, -ECONNREFUSED}) {
    EXPECT_THAT(RejectionFailure(status).message(), HasSubstr("no process listens there")) << status;
  }
  for (const int status : {28, -ECONNRESET}) {
    EXPECT_THAT(RejectionFailure(status).message(), HasSubstr("refused by the process that listens there")) << status;
  }
}

TEST(RejectionFailure, TellsOfAConnectionThatTheDeviceStillHolds) {
  EXPECT_THAT(RejectionFailure(10).message(), HasSubstr("of a run that has just ended"));
}

TEST(RejectionFailure, MayPassWhateverTheReasonIs) {
  for (const int status : {8, 10, 28, -ECONNREFUSED, -ECONNRESET, 99}) {
    EXPECT_EQ(RejectionFailure(status).code(), absl::StatusCode::kUnavailable) << status;
  }
  EXPECT_THAT(RejectionFailure(99).message(), HasSubstr("(status 99)"));
}

}  // namespace
}  // namespace glaive::rdma
