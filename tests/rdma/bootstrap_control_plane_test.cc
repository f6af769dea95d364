#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/control_plane.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ControlPlane, EveryNodeLearnsTheTokenAndAllMembers) {
  const SteadyClock clock;
  Planes planes = StartCluster(4, clock);
  ASSERT_EQ(planes.size(), 4U);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(planes[rank]->rank(), NodeId{rank});
    EXPECT_EQ(planes[rank]->nodes(), 4U);
    EXPECT_EQ(planes[rank]->run_token(), kRunToken);
    EXPECT_TRUE(planes[rank]->one_host());
    EXPECT_EQ(planes[rank]->local_address(), "127.0.0.1");
    ASSERT_EQ(planes[rank]->members().size(), 4U);
    EXPECT_EQ(planes[rank]->members()[3].pid, 1003);
  }
}

TEST(ControlPlane, NoticesThatNodesAreOnSeveralHosts) {
  const SteadyClock clock;
  std::vector<Hello> hellos = {HelloOf(0, 2), HelloOf(1, 2)};
  hellos[1].host_id = "elsewhere";
  for (const PlaneOr& plane : StartNodes(hellos, clock, Patience())) {
    ASSERT_TRUE(plane.ok()) << plane.status();
    EXPECT_FALSE((*plane)->one_host());
  }
}

TEST(ControlPlane, AllGatherGivesEveryNodeEveryContributionByRank) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  OnEveryNode(planes, [](ControlPlane& plane) {
    for (int phase = 0; phase < 50; ++phase) {
      const std::string name = "phase " + std::to_string(phase);
      const auto mine = [&](std::uint32_t rank) { return name + std::string(1, '\0') + std::to_string(rank); };
      const auto all = plane.AllGather(name, mine(Value(plane.rank())));
      ASSERT_TRUE(all.ok()) << all.status();
      ASSERT_EQ(*all, (std::vector<std::string>{mine(0), mine(1), mine(2)}));
    }
  });
}

TEST(ControlPlane, AllGatherCarriesTheLargestContributionAndRefusesALargerOne) {
  const SteadyClock clock;
  Planes planes = StartCluster(2, clock);
  OnEveryNode(planes, [](ControlPlane& plane) {
    const char letter = static_cast<char>('a' + Value(plane.rank()));
    EXPECT_EQ(plane.AllGather("too much", std::string(kMaxGatherBytes + 1, letter)).status().code(),
              absl::StatusCode::kInvalidArgument);
    const auto all = plane.AllGather("much", std::string(kMaxGatherBytes, letter));
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ((*all)[0], std::string(kMaxGatherBytes, 'a'));
    EXPECT_EQ((*all)[1], std::string(kMaxGatherBytes, 'b'));
  });
}

TEST(ControlPlane, ARunOfOneNodeNeedsNoConnections) {
  const SteadyClock clock;
  const auto plane = ControlPlane::Alone(HelloOf(0, 1), kRunToken, Patience(), clock);
  ASSERT_TRUE(plane.ok()) << plane.status();
  EXPECT_EQ(*(*plane)->AllGather("phase", "mine"), std::vector<std::string>{"mine"});
  EXPECT_EQ((*plane)->local_address(), "");
  EXPECT_EQ((*plane)->PollFailure(), std::nullopt);
  EXPECT_TRUE((*plane)->Leave(absl::Seconds(1)).ok());
  EXPECT_TRUE((*plane)->one_host());
}

TEST(ControlPlane, ACoordinatorOfOneNodeWaitsForNobody) {
  const SteadyClock clock;
  const auto plane = ControlPlane::Coordinate(BindAnywhere(), HelloOf(0, 1), kRunToken, Patience(), clock);
  ASSERT_TRUE(plane.ok()) << plane.status();
  EXPECT_EQ((*plane)->nodes(), 1U);
}

TEST(ControlPlane, AMemberMayComeBeforeItsCoordinator) {
  const SteadyClock clock;
  std::string address;
  {
    address = BindAnywhere().address();  // closed again: for now nobody listens there
  }
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  const HostPort where = ParseHostPort(address).value();
  auto listener = Listener::Bind(where.host, where.port);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto coordinator = ControlPlane::Coordinate(*std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

TEST(ControlPlane, AMismatchIsRefusedByNameOnEverySide) {
  const SteadyClock clock;
  std::vector<Hello> hellos = {HelloOf(0, 3), HelloOf(1, 3), HelloOf(2, 3)};
  hellos[2].settings["slot-bytes"] = "32KiB";
  for (const PlaneOr& plane : StartNodes(hellos, clock, Patience())) {
    EXPECT_EQ(plane.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(plane.status().message(),
                HasSubstr("rank 2 was started with --slot-bytes=32KiB but rank 0 with --slot-bytes=64KiB"));
  }
}

TEST(ControlPlane, ARankThatComesTwiceIsRefusedOnEverySide) {
  const SteadyClock clock;
  std::vector<Hello> hellos = {HelloOf(0, 3), HelloOf(1, 3), HelloOf(1, 3)};
  for (const PlaneOr& plane : StartNodes(hellos, clock, Patience())) {
    EXPECT_EQ(plane.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(plane.status().message(), HasSubstr("rank 1 came twice"));
  }
}

TEST(ControlPlane, TheCoordinatorNamesTheRanksThatNeverCameToThoseThatDid) {
  const SteadyClock clock;
  // Of four nodes, ranks 2 and 3 are never started.
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  auto member = std::async(std::launch::async, [&] {
    return ControlPlane::Join(address, HelloOf(1, 4), Patience(absl::Seconds(20)), clock);
  });
  const auto coordinator =
      ControlPlane::Coordinate(std::move(listener), HelloOf(0, 4), kRunToken, Patience(absl::Milliseconds(300)), clock);
  const auto joined = member.get();
  for (const PlaneOr* plane : {&coordinator, &joined}) {
    EXPECT_EQ(plane->status().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(plane->status().message(), AllOf(HasSubstr("2, 3 of 4 nodes did not join at " + address),
                                                 HasSubstr("300ms"), HasSubstr("--join-timeout")));
  }
}

TEST(ControlPlane, AMemberWithoutCoordinatorGivesUpInTime) {
  const SteadyClock clock;
  const std::string address = BindAnywhere().address();
  const auto joined = ControlPlane::Join(address, HelloOf(1, 2), Patience(absl::Milliseconds(300)), clock);
  EXPECT_EQ(joined.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(joined.status().message(), AllOf(HasSubstr("found no coordinator at " + address), HasSubstr("refused")));
}

TEST(ControlPlane, AMemberSaysThatItsCoordinatorsAddressCannotBeRight) {
  const SteadyClock clock;
  for (const char* address : {"nonsense", "127.0.0.1:0"}) {
    const auto joined = ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock);
    EXPECT_EQ(joined.status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST(ControlPlane, AMemberSaysThatWhatAnswersIsNoCoordinator) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string& address = listener.address();
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  UniqueFd accepted;
  while (!accepted.valid()) accepted = UniqueFd(::accept(listener.fd(), nullptr, nullptr));
  const std::string banner = "SSH-2.0-OpenSSH_9.2\r\n";
  ASSERT_EQ(::send(accepted.get(), banner.data(), banner.size(), 0), static_cast<ssize_t>(banner.size()));
  EXPECT_EQ(::shutdown(accepted.get(), SHUT_RDWR), 0);
  accepted.Reset();
  const auto joined = member.get();
  EXPECT_EQ(joined.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(joined.status().message(), HasSubstr("is no coordinator"));
}

}  // namespace
}  // namespace glaive::rdma
