// What nodes agree on and wait for before a run, each on a thread of this process with a host of the test's making.

#include "engine/cluster/node_set_up.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/files/file_claims.h"
#include "engine/sink/discard.h"
#include "engine/source/line_source.h"
#include "rdma/transport/fabric.h"
#include "rdma/transport/local_transport.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/temporary_folder.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CountProgram final : public QueryProgram {
 public:
  std::string name() const override { return "test"; }
  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& /*options*/, std::uint32_t /*executor_count*/,
                                               FileClaims& /*claims*/, const Watch& /*watch*/) override {
    return From(TestSource(Workload{}))
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Seconds(1)})
        .Aggregate(Count{})
        .To(Discard{});
  }
};

/// A program that reads files.
class LinesProgram final : public QueryProgram {
 public:
  explicit LinesProgram(std::vector<ListedFile> files) : files_(std::move(files)) {}

  std::string name() const override { return "test"; }
  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& /*options*/, std::uint32_t /*executor_count*/,
                                               FileClaims& /*claims*/, const Watch& /*watch*/) override {
    return From(Lines(files_)).To(Discard{});
  }
  std::vector<ComparedInput> inputs() const override { return {{"a table", "3 rows"}}; }

 private:
  std::vector<ListedFile> files_;
};

/// A local transport that calls itself verbs. `stands` says whether its peers are connected.
class LateTransport final : public rdma::CopyTransport {
 public:
  LateTransport(const rdma::TransportOptions& options, std::function<bool()> stands, bool places_out_of_order)
      : CopyTransport(options),
        local_(options),
        stands_(std::move(stands)),
        places_out_of_order_(places_out_of_order) {}

  rdma::TransportKind kind() const override { return rdma::TransportKind::kVerbs; }
  rdma::EndpointDescriptor endpoint() const override { return local_.endpoint(); }
  absl::StatusOr<rdma::ExposedRegion> Expose(std::size_t size_bytes) override { return local_.Expose(size_bytes); }
  absl::StatusOr<rdma::RemoteRegion> Attach(const rdma::RegionDescriptor& descriptor) override {
    return local_.Attach(descriptor);
  }
  absl::StatusOr<rdma::QueuePair*> Connect(ExecutorId peer, const rdma::EndpointDescriptor& there) override {
    return local_.Connect(peer, there);
  }
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override {
    return stands_() ? std::nullopt : std::optional(NodeId{0});
  }
  bool PlacesOutOfOrder() const override { return places_out_of_order_; }
  absl::Status PollFailure() override { return absl::OkStatus(); }

 private:
  rdma::LocalTransport local_;
  std::function<bool()> stands_;
  bool places_out_of_order_;
};

/// Time passes while somebody sleeps; executors are never run.
class TestHost final : public Host, public rdma::Fabric {
 public:
  explicit TestHost(rdma::HandClock& clock) : clock_(&clock) {}

  absl::StatusOr<std::vector<int>> claim = std::vector<int>();  // what ClaimCpus finds
  NumaNodes numa;                                               // of the host
  std::optional<int> device_node;                               // the NUMA node of its device
  std::function<bool()> stands = [] { return true; };           // whether queue pairs over verbs do
  bool has_immediates = true;                                   // HasImmediates
  std::string out_of_order;                                     // OutOfOrderSetting
  bool places_out_of_order = false;                             // what its device says of its connections
  bool is_hurried = true;                                       // else sleep takes as long as it says

  std::string printed() const { return out_.str(); }
  const std::vector<std::string>& told() const { return told_; }
  const std::vector<int>& pinned() const { return pinned_; }
  bool has_claims() const { return has_claims_; }
  /// How messages arrive over verbs; absent before there is a transport.
  std::optional<rdma::Arrival> arrival() const { return arrival_; }
  /// The processors that ClaimCpus was given, in their order.
  const std::vector<int>& offered() const { return offered_; }

  void Sleep(absl::Duration time) override {
    clock_->Advance(is_hurried ? 100 * time : time);
    if (!is_hurried) absl::SleepFor(time);
  }
  std::ostream& out() override { return out_; }
  void Tell(const std::string& message) override { told_.push_back(message); }
  std::uint64_t available_memory_bytes() override { return std::uint64_t{4} << 30; }
  std::vector<int> allowed_cpus() override { return {0, 1, 2, 3}; }
  NumaNodes numa_nodes() override { return numa; }
  absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& cpus, std::size_t /*count*/) override {
    offered_ = cpus;
    has_claims_ = claim.ok();
    return claim;
  }
  void ReleaseCpus() override { has_claims_ = false; }
  absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& /*options*/,
                                                                const std::string& /*local_address*/) override {
    return nullptr;
  }
  bool HasImmediates(const rdma::VerbsDevice* /*device*/) override { return has_immediates; }
  std::string OutOfOrderSetting() override { return out_of_order; }
  std::optional<int> NumaNodeOf(const rdma::VerbsDevice* /*device*/) override { return device_node; }
  void Equip(ExecutorConfig& config) override { config.mesh.fabric = this; }
  void RemovePart(const ResultPart& /*part*/, const std::string& /*path*/) override {}
  std::unique_ptr<ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                             const std::vector<int>& cpus) override {
    pinned_ = cpus;
    return std::make_unique<NoRunner>(executors.size());
  }
  absl::StatusOr<std::unique_ptr<rdma::Transport>> MakeTransport(rdma::TransportKind kind,
                                                                 const rdma::TransportOptions& options) override {
    if (kind != rdma::TransportKind::kVerbs) return rdma::MakeTransport(kind, options);
    arrival_ = options.arrival;
    return std::make_unique<LateTransport>(options, stands, places_out_of_order);
  }
  absl::StatusOr<rdma::PageRegion> MapSegments(std::size_t size_bytes) override {
    return rdma::PageRegion::Map(size_bytes);
  }

 private:
  class NoRunner final : public ExecutorRunner {
   public:
    explicit NoRunner(std::size_t executors) : executors_(executors) {}

    absl::Status OnEach(Step step, const Watch& watch) override {
      absl::Status status;
      for (std::size_t i = 0; i < executors_; ++i) status.Update(step(i, watch));
      return status;
    }
    absl::Status Open(const Watch& /*watch*/) override { return absl::OkStatus(); }
    absl::Status Run(const Watch& /*watch*/) override { return absl::OkStatus(); }

   private:
    std::size_t executors_;
  };

  rdma::HandClock* clock_;
  std::ostringstream out_;
  std::vector<std::string> told_;
  std::vector<int> pinned_;
  std::vector<int> offered_;
  bool has_claims_ = false;
  std::optional<rdma::Arrival> arrival_;
};

/// Two NUMA nodes, whose processors alternate.
class NumaTree {
 public:
  NumaTree() {
    for (const char* const node : {"0", "1"}) {
      const std::filesystem::path path = folder_.path() / "sys/devices/system/node" / absl::StrCat("node", node);
      std::filesystem::create_directories(path);
      std::ofstream(path / "cpulist") << (*node == '0' ? "0,2" : "1,3") << "\n";
    }
  }
  NumaNodes Read() const { return NumaNodes::Read(folder_.path().string()); }

 private:
  TemporaryFolder folder_;
};

EngineOptions OptionsOf(std::uint32_t nodes, std::uint32_t executors) {
  EngineOptions options;
  options.cluster.nodes = nodes;
  options.cluster.executors = executors;
  options.state.memory_limit_bytes = std::uint64_t{256} << 20;
  return options;
}

class NodeSetUpTest : public ::testing::Test {
 protected:
  /// Sets two nodes of one host up.
  void SetUpBoth(std::uint32_t executors = 1, TransportChoice transport = TransportChoice::kAuto) {
    rdma::Planes planes = rdma::StartCluster(2, steady_clock_);
    ASSERT_EQ(planes.size(), 2U);
    EngineOptions options = OptionsOf(2, executors);
    options.cluster.transport = transport;
    rdma::OnEveryNode(planes, [&](rdma::ControlPlane& plane) {
      TestHost& host = Value(plane.rank()) == 0 ? first_ : second_;
      CountProgram program;
      FileClaims claims;
      NodeParts parts;
      EXPECT_EQ(NodeSetUp(program, options, plane, clock_, host, claims, parts).Run(GoOn), absl::OkStatus());
      if (Value(plane.rank()) == 0) processors_ = parts.processors;
      EXPECT_TRUE(plane.AllGather("set up", "").ok());  // the other may still use this one's rings
    });
  }

  /// What two nodes say whose programs read files.
  std::vector<std::string> FailuresOverFiles(const std::vector<ListedFile>& first,
                                             const std::vector<ListedFile>& second) {
    rdma::Planes planes = rdma::StartCluster(2, steady_clock_);
    std::vector<std::string> failures(planes.size());
    const EngineOptions options = OptionsOf(2, 1);
    rdma::OnEveryNode(planes, [&](rdma::ControlPlane& plane) {
      const bool is_first = Value(plane.rank()) == 0;
      LinesProgram program(is_first ? first : second);
      FileClaims claims;
      NodeParts parts;
      failures[Value(plane.rank())] = std::string(
          NodeSetUp(program, options, plane, clock_, is_first ? first_ : second_, claims, parts).Run(GoOn).message());
      EXPECT_TRUE(plane.AllGather("set up", "").ok());
    });
    return failures;
  }

  /// What two nodes say whose messages are to arrive so over verbs.
  std::vector<std::string> FailuresOverVerbs(ArrivalChoice arrival) {
    rdma::Planes planes = rdma::StartCluster(2, steady_clock_);
    std::vector<std::string> failures(planes.size());
    EngineOptions options = OptionsOf(2, 1);
    options.cluster.transport = TransportChoice::kVerbs;
    options.cluster.arrival = arrival;
    rdma::OnEveryNode(planes, [&](rdma::ControlPlane& plane) {
      TestHost& host = Value(plane.rank()) == 0 ? first_ : second_;
      CountProgram program;
      FileClaims claims;
      NodeParts parts;
      failures[Value(plane.rank())] =
          std::string(NodeSetUp(program, options, plane, clock_, host, claims, parts).Run(GoOn).message());
      EXPECT_TRUE(plane.AllGather("set up", "").ok());
    });
    return failures;
  }

  /// Sets up a run of one node, whose two executors reach each other over verbs.
  absl::Status SetUpOneOverVerbs(ArrivalChoice arrival) {
    const auto plane = rdma::ControlPlane::Alone(rdma::HelloOf(0, 1), 7, rdma::Patience(), steady_clock_);
    if (!plane.ok()) return plane.status();
    EngineOptions options = OptionsOf(1, 2);
    options.cluster.transport = TransportChoice::kVerbs;
    options.cluster.arrival = arrival;
    CountProgram program;
    FileClaims claims;
    NodeParts parts;
    return NodeSetUp(program, options, **plane, clock_, first_, claims, parts).Run(GoOn);
  }

  SteadyClock steady_clock_;
  rdma::HandClock clock_;
  TestHost first_{clock_};
  TestHost second_{clock_};
  std::vector<std::string> processors_;  // as node 0 reports them
};

TEST_F(NodeSetUpTest, NodesOfAHostArePinnedIfAllFindProcessors) {
  first_.claim = std::vector<int>{0};
  second_.claim = std::vector<int>{1};
  SetUpBoth();
  EXPECT_THAT(first_.printed(), HasSubstr("processors: node 0's executors are pinned to 0\n"));
  EXPECT_THAT(first_.pinned(), ElementsAre(0));
  EXPECT_THAT(second_.pinned(), ElementsAre(1));
  EXPECT_THAT(processors_, ElementsAre("0", "1"));
}

TEST_F(NodeSetUpTest, NodesOfAHostBeginWithSharesOfTheirOwn) {
  SetUpBoth(/*executors=*/2);
  EXPECT_THAT(first_.offered(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(second_.offered(), ElementsAre(2, 3, 0, 1));
}

TEST_F(NodeSetUpTest, ProcessorsNearTheDeviceComeFirstAndAreSaidWithTheirNode) {
  const NumaTree tree;
  first_.numa = second_.numa = tree.Read();
  first_.device_node = second_.device_node = 1;
  first_.claim = std::vector<int>{1};
  second_.claim = std::vector<int>{3, 0};
  SetUpBoth();
  EXPECT_THAT(first_.offered(), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(second_.offered(), ElementsAre(3, 0, 2, 1));
  EXPECT_THAT(first_.printed(),
              HasSubstr("node 0's executors are pinned to 1 (NUMA node 1); the device is at NUMA node 1\n"));
  EXPECT_THAT(processors_, ElementsAre("1 (NUMA node 1)", "3 (NUMA node 1), 0 (NUMA node 0)"));
}

TEST_F(NodeSetUpTest, WithoutANearNodeTheOrderIsTheSystems) {
  const NumaTree tree;
  first_.numa = second_.numa = tree.Read();
  first_.claim = std::vector<int>{0};
  second_.claim = std::vector<int>{1};
  SetUpBoth();
  EXPECT_THAT(first_.offered(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first_.printed(), HasSubstr("node 0's executors are pinned to 0 (NUMA node 0)\n"));
}

TEST_F(NodeSetUpTest, NoNodeOfAHostIsPinnedIfOneFindsNoProcessors) {
  first_.claim = std::vector<int>{0};
  second_.claim = absl::ResourceExhaustedError("they are taken");
  SetUpBoth();
  EXPECT_THAT(first_.printed(), HasSubstr("processors: not pinned, node 1: they are taken\n"));
  EXPECT_THAT(first_.pinned(), IsEmpty());
  EXPECT_THAT(second_.pinned(), IsEmpty());
  EXPECT_FALSE(first_.has_claims()) << "other runs may have what is not used";
  EXPECT_THAT(processors_, ElementsAre("", ""));
}

TEST_F(NodeSetUpTest, ANodeSaysWhoseQueuePairItWaitsFor) {
  first_.stands = [this] { return clock_.NowNanos() >= 5'000'000'000; };
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kAuto), absl::OkStatus());
  const char* const message = "waits for a queue pair to node 0 (process 1000), for at most 1m (--join-timeout)";
  EXPECT_THAT(first_.told(), ElementsAre(message, message));
}

TEST_F(NodeSetUpTest, ANodeWithoutAQueuePairGivesUpBehindTheJoinTimeoutAndSaysWhatToDo) {
  first_.stands = [] { return false; };
  const absl::Status status = SetUpOneOverVerbs(ArrivalChoice::kAuto);
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("this node has no queue pair to node 0 after 1m (--join-timeout); both addresses must be"),
            HasSubstr("try rping between them, or choose others with --bind or --device")));
  EXPECT_GE(clock_.NowNanos(), 61'000'000'000) << "the other end gives up first, and says why";
  EXPECT_LT(clock_.NowNanos(), 62'000'000'000);
}

/// Over iWARP the listening end stands first.
TEST_F(NodeSetUpTest, AQueuePairThatFailsAgainBeforeAllStandIsWaitedFor) {
  int polls = 0;
  first_.stands = [&polls] { return ++polls <= 2 || polls > 10; };
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kAuto), absl::OkStatus());
  EXPECT_GT(polls, 10);
}

TEST_F(NodeSetUpTest, ANodeWhoseQueuePairsStandPollsThemUntilThoseOfAllNodesDo) {
  std::atomic<int> polls_of_first = 0;
  first_.stands = [&] { return ++polls_of_first > 0; };
  second_.stands = [&] { return polls_of_first > 3; };  // as if its attempt needed the other end
  second_.is_hurried = false;
  SetUpBoth(/*executors=*/1, TransportChoice::kVerbs);
  EXPECT_GT(polls_of_first, 3);
}

TEST_F(NodeSetUpTest, NodesWhoseSourcesSeeOtherFilesDoNotStart) {
  const ListedFile file{.path = "in/a", .bytes = 12};
  const ListedFile grown{.path = "in/a", .bytes = 13};
  const ListedFile other{.path = "in/b", .bytes = 0};
  EXPECT_THAT(FailuresOverFiles({file}, {file}), ElementsAre("", ""));
  const auto differ = [](const std::string& difference) {
    return testing::Each(HasSubstr("the nodes' inputs differ: of " + difference));
  };
  EXPECT_THAT(FailuresOverFiles({file}, {grown}), differ("'in/a', rank 0 has 12 bytes and rank 1 has 13 bytes"));
  EXPECT_THAT(FailuresOverFiles({file}, {file, other}),
              differ("'in/b', rank 0 does not have it and rank 1 has 0 bytes"));
  EXPECT_THAT(FailuresOverFiles({file}, {}), differ("'in/a', rank 0 has 12 bytes and rank 1 does not have it"));
}

TEST_F(NodeSetUpTest, NodesOfWhichOneLacksImmediateValuesPoll) {
  second_.has_immediates = false;
  SetUpBoth(/*executors=*/1, TransportChoice::kVerbs);
  EXPECT_EQ(first_.arrival(), rdma::Arrival::kChecksum);
  EXPECT_EQ(second_.arrival(), rdma::Arrival::kChecksum);
}

TEST_F(NodeSetUpTest, NodesThatAllHaveImmediateValuesTakeThem) {
  SetUpBoth(/*executors=*/1, TransportChoice::kVerbs);
  EXPECT_EQ(first_.arrival(), rdma::Arrival::kImmediate);
  EXPECT_EQ(second_.arrival(), rdma::Arrival::kImmediate);
}

TEST_F(NodeSetUpTest, ImmediateValuesThatADeviceLacksAreRefusedAtEachNode) {
  second_.has_immediates = false;
  for (const std::string& failure : FailuresOverVerbs(ArrivalChoice::kImmediate)) {
    EXPECT_THAT(failure, HasSubstr("--arrival=imm: the device of node 1 has no WRITE with an immediate value"));
  }
  EXPECT_EQ(first_.arrival(), std::nullopt);
}

TEST_F(NodeSetUpTest, ANodeThatPollsIsWarnedOfConnectionsThatPlaceBytesOutOfOrder) {
  first_.places_out_of_order = true;
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kImmediate), absl::OkStatus());
  EXPECT_THAT(first_.told(), IsEmpty()) << "the order does not matter";
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kPoll), absl::OkStatus());
  EXPECT_THAT(first_.told(),
              ElementsAre(HasSubstr("messages arrive by poll, and this host's device says that it may ")));
}

TEST_F(NodeSetUpTest, ANodeThatPollsIsWarnedOfADeviceThatPlacesBytesOutOfOrder) {
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kPoll), absl::OkStatus());
  EXPECT_THAT(first_.told(), IsEmpty()) << "no sign of it";
  first_.out_of_order = "MLX5_RELAXED_PACKET_ORDERING_ON=1";
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kImmediate), absl::OkStatus());
  EXPECT_THAT(first_.told(), IsEmpty()) << "the order does not matter";
  EXPECT_EQ(SetUpOneOverVerbs(ArrivalChoice::kPoll), absl::OkStatus());
  EXPECT_THAT(first_.told(), ElementsAre(HasSubstr("messages arrive by poll, and MLX5_RELAXED_PACKET_ORDERING_ON=1 ")));
}

}  // namespace
}  // namespace glaive::engine
