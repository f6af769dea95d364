#include "rdma/verbs/connect_failures.h"

#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

TEST(ConnectFailures, KeepTheLastOneOfEachNode) {
  ConnectFailures failures;
  failures.Note(NodeId{1}, absl::UnavailableError("no route"));
  failures.Note(NodeId{2}, absl::UnavailableError("no answer"));
  failures.Note(NodeId{1}, absl::UnavailableError("refused"));
  EXPECT_EQ(failures.LastOf(NodeId{1}), "refused");
  EXPECT_EQ(failures.LastOf(NodeId{2}), "no answer");
  EXPECT_EQ(failures.LastOf(NodeId{0}), "");
}

}  // namespace
}  // namespace glaive::rdma
