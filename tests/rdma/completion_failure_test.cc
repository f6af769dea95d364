#include "rdma/verbs/completion_failure.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Values of ibv_wc_status, which are part of the verbs' binary interface.
constexpr int kSuccess = 0;
constexpr int kLocalProtection = 4;
constexpr int kFlushed = 5;
constexpr int kRemoteAccess = 10;
constexpr int kRetryExceeded = 12;

TEST(ToWriteStatus, TellsSuccessRefusalsAndTheRestApart) {
  EXPECT_EQ(ToWriteStatus(kSuccess), WriteStatus::kDone);
  EXPECT_EQ(ToWriteStatus(kRemoteAccess), WriteStatus::kRefused);
  for (const int status : {kLocalProtection, kFlushed, kRetryExceeded}) {
    EXPECT_EQ(ToWriteStatus(status), WriteStatus::kPeerUnreachable) << status;
  }
}

TEST(CompletionFailure, IsNoneOfAWriteThatSucceeded) { EXPECT_TRUE(CompletionFailure(kSuccess, 0, NodeId{1}).ok()); }

TEST(CompletionFailure, OfThisHostSaysSoWithTheVendorsCode) {
  const absl::Status failure = CompletionFailure(kLocalProtection, 0x51, NodeId{3});
  EXPECT_EQ(failure.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 3 failed on this host"), HasSubstr("protection error"),
                                       HasSubstr("(vendor error 0x51)")));
}

TEST(CompletionFailure, OfAPeerNamesItAndIsNoErrorOfThisHost) {
  for (const int status : {kRemoteAccess, kRetryExceeded, kFlushed}) {
    const absl::Status failure = CompletionFailure(status, 0x88, NodeId{3});
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 3"), HasSubstr("(vendor error 0x88)")));
  }
  EXPECT_THAT(CompletionFailure(kRetryExceeded, 0, NodeId{3}).message(), HasSubstr("in 7 attempts"));
}

TEST(MayBeLostOnTheWay, HoldsForWritesThatNobodyHasRefused) {
  for (const int status : {kRetryExceeded, kFlushed}) {
    EXPECT_TRUE(MayBeLostOnTheWay(CompletionFailure(status, 0, NodeId{3}))) << status;
  }
  for (const int status : {kSuccess, kLocalProtection, kRemoteAccess}) {
    EXPECT_FALSE(MayBeLostOnTheWay(CompletionFailure(status, 0, NodeId{3}))) << status;
  }
}

TEST(RefusedWrite, SaysWhyTheDeviceTookNone) {
  EXPECT_EQ(RefusedWrite(ENOMEM, NodeId{3}),
            absl::InternalError("transport verbs: this host's device took no write to node 3: Cannot allocate memory "
                                "(ibv_post_send)"));
  EXPECT_EQ(RefusedWrite(ENOTCONN, NodeId{3}).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace glaive::rdma
