#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/hello.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

Hello CoordinatorHello() {
  return {.program = "ysb",
          .commit = "abc",
          .rank = NodeId{0},
          .nodes = 4,
          .executors_per_node = 2,
          .host_id = "host",
          .pid = 1,
          .settings = {{"credits", "8"}, {"slot-bytes", "64KiB"}}};
}

Hello MemberHello() {
  Hello hello = CoordinatorHello();
  hello.rank = NodeId{2};
  hello.pid = 2;
  return hello;
}

std::string Refusal(const Hello& theirs) {
  const absl::Status status = CheckHello(CoordinatorHello(), theirs);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

TEST(CheckHello, AcceptsTheSameBuildAndFlagsOnAnyHost) {
  Hello theirs = MemberHello();
  theirs.host_id = "another";
  EXPECT_TRUE(CheckHello(CoordinatorHello(), theirs).ok());
}

TEST(CheckHello, NamesTheFlagThatDiffersAndBothValues) {
  Hello theirs = MemberHello();
  theirs.settings["slot-bytes"] = "32KiB";
  EXPECT_EQ(Refusal(theirs),
            "rank 2 was started with --slot-bytes=32KiB but rank 0 with --slot-bytes=64KiB; start all ranks with the "
            "same flags");
}

TEST(CheckHello, NamesGeometryLikeFlags) {
  Hello theirs = MemberHello();
  theirs.nodes = 3;
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 2 was started with --nodes=3 but rank 0 with --nodes=4"));
  theirs = MemberHello();
  theirs.executors_per_node = 1;
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 2 was started with --executors=1 but rank 0 with --executors=2"));
}

TEST(CheckHello, NamesBuildsThatDiffer) {
  Hello theirs = MemberHello();
  theirs.commit = "def";
  EXPECT_EQ(Refusal(theirs), "rank 2 has commit def but rank 0 has commit abc; start all ranks from the same build");
  theirs = MemberHello();
  theirs.protocol_version = 99;
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 2 has bootstrap protocol 99 but rank 0 has"));
  theirs = MemberHello();
  theirs.program = "nb7";
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 2 runs 'nb7' but rank 0 runs 'ysb'"));
}

TEST(CheckHello, NamesAFlagThatOnlyOneSideHas) {
  Hello theirs = MemberHello();
  theirs.settings.erase("credits");
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 0 has a flag --credits that rank 2 does not have"));
  theirs = MemberHello();
  theirs.settings["new"] = "1";
  EXPECT_THAT(Refusal(theirs), HasSubstr("rank 2 has a flag --new that rank 0 does not have"));
}

TEST(CheckHello, RefusesARankOutOfRange) {
  Hello theirs = MemberHello();
  theirs.rank = NodeId{4};
  EXPECT_EQ(Refusal(theirs), "--rank=4 is out of range: with --nodes=4 the ranks are 0 to 3");
}

TEST(ThisHostId, IsTheSameEveryTime) {
  const auto first = ThisHostId();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(*first, ::testing::MatchesRegex("[0-9a-f-]+/(pid:.*|one)"));
  EXPECT_EQ(*first, *ThisHostId());
}

}  // namespace
}  // namespace glaive::rdma
