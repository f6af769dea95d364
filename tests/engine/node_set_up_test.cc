// What nodes agree on and wait for before a run, each on a thread of this process with a host of the test's making.

#include "engine/cluster/node_set_up.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/sink/discard.h"
#include "rdma/transport/fabric.h"
#include "rdma/transport/local_transport.h"
#include "tests/engine/cluster_harness.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CountProgram final : public QueryProgram {
 public:
  std::string name() const override { return "test"; }
  std::string summary() const override { return ""; }
  void RegisterFlags(FlagSet& /*flags*/) override {}
  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& /*options*/, std::uint32_t /*executor_count*/,
                                               const Watch& /*watch*/) override {
    return From(TestSource(Workload{}))
        .KeyBy(&TestRecord::key)
        .Window(Tumbling{absl::Seconds(1)})
        .Aggregate(Count{})
        .To(Discard{});
  }
  std::uint64_t verify_memory_bytes(std::uint32_t /*executor_count*/) const override { return 0; }
  absl::StatusOr<std::string> CheckNode(const RunFacts& /*facts*/, const Watch& /*watch*/) override { return ""; }
  absl::Status CheckRun(std::span<const std::string> /*nodes*/) override { return absl::OkStatus(); }
};

/// A local transport that calls itself verbs, and whose peers are connected at a certain time.
class LateTransport final : public rdma::CopyTransport {
 public:
  LateTransport(std::uint32_t queue_depth, const Clock& clock, std::int64_t connected_ns)
      : CopyTransport(queue_depth), local_(queue_depth), clock_(&clock), connected_ns_(connected_ns) {}

  rdma::TransportKind kind() const override { return rdma::TransportKind::kVerbs; }
  rdma::EndpointDescriptor endpoint() const override { return local_.endpoint(); }
  absl::StatusOr<rdma::ExposedRegion> Expose(std::size_t size_bytes) override { return local_.Expose(size_bytes); }
  absl::StatusOr<rdma::RemoteRegion> Attach(const rdma::RegionDescriptor& descriptor) override {
    return local_.Attach(descriptor);
  }
  absl::StatusOr<rdma::QueuePair*> Connect(NodeId peer, const rdma::EndpointDescriptor& there) override {
    return local_.Connect(peer, there);
  }
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override {
    return clock_->NowNanos() < connected_ns_ ? std::optional(NodeId{0}) : std::nullopt;
  }
  absl::Status PollFailure() override { return absl::OkStatus(); }

 private:
  rdma::LocalTransport local_;
  const Clock* clock_;
  std::int64_t connected_ns_;
};

/// Time passes while somebody sleeps; executors are never run.
class TestHost final : public Host, public rdma::Fabric {
 public:
  explicit TestHost(rdma::HandClock& clock) : clock_(&clock) {}

  absl::StatusOr<std::vector<int>> claim = std::vector<int>();  // what ClaimCpus finds
  std::int64_t connected_ns = 0;                                // when queue pairs over verbs stand

  std::string printed() const { return out_.str(); }
  const std::vector<std::string>& told() const { return told_; }
  const std::vector<int>& pinned() const { return pinned_; }
  bool has_claims() const { return has_claims_; }

  void Sleep(absl::Duration time) override { clock_->Advance(100 * time); }
  std::ostream& out() override { return out_; }
  void Tell(const std::string& message) override { told_.push_back(message); }
  std::uint64_t available_memory_bytes() override { return std::uint64_t{4} << 30; }
  std::vector<int> allowed_cpus() override { return {0, 1, 2, 3}; }
  absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& /*cpus*/, std::size_t /*count*/) override {
    has_claims_ = claim.ok();
    return claim;
  }
  void ReleaseCpus() override { has_claims_ = false; }
  absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& /*options*/) override {
    return nullptr;
  }
  void Equip(ExecutorConfig& config) override { config.mesh.fabric = this; }
  void RemovePart(const ResultPart& /*part*/, const std::string& /*path*/) override {}
  std::unique_ptr<ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<Executor>> /*executors*/,
                                             const std::vector<int>& cpus) override {
    pinned_ = cpus;
    return std::make_unique<NoRunner>();
  }
  absl::StatusOr<std::unique_ptr<rdma::Transport>> MakeTransport(rdma::TransportKind kind,
                                                                 const rdma::TransportOptions& options) override {
    if (kind != rdma::TransportKind::kVerbs) return rdma::MakeTransport(kind, options);
    return std::make_unique<LateTransport>(options.queue_depth * options.node_count, *clock_, connected_ns);
  }
  absl::StatusOr<rdma::PageRegion> MapSegments(std::size_t size_bytes) override {
    return rdma::PageRegion::Map(size_bytes);
  }

 private:
  class NoRunner final : public ExecutorRunner {
   public:
    absl::Status Open(const Watch& /*watch*/) override { return absl::OkStatus(); }
    absl::Status Run(const Watch& /*watch*/) override { return absl::OkStatus(); }
  };

  rdma::HandClock* clock_;
  std::ostringstream out_;
  std::vector<std::string> told_;
  std::vector<int> pinned_;
  bool has_claims_ = false;
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
  void SetUpBoth() {
    rdma::Planes planes = rdma::StartCluster(2, steady_clock_);
    ASSERT_EQ(planes.size(), 2U);
    const EngineOptions options = OptionsOf(2, 1);
    rdma::OnEveryNode(planes, [&](rdma::ControlPlane& plane) {
      TestHost& host = Value(plane.rank()) == 0 ? first_ : second_;
      CountProgram program;
      NodeParts parts;
      EXPECT_EQ(NodeSetUp(program, options, plane, clock_, host, parts).Run(GoOn), absl::OkStatus());
      EXPECT_TRUE(plane.AllGather("set up", "").ok());  // the other may still use this one's rings
    });
  }

  SteadyClock steady_clock_;
  rdma::HandClock clock_;
  TestHost first_{clock_};
  TestHost second_{clock_};
};

TEST_F(NodeSetUpTest, NodesOfAHostArePinnedIfAllFindProcessors) {
  first_.claim = std::vector<int>{0};
  second_.claim = std::vector<int>{1};
  SetUpBoth();
  EXPECT_THAT(first_.printed(), HasSubstr("processors: node 0's executors are pinned to 0\n"));
  EXPECT_THAT(first_.pinned(), ElementsAre(0));
  EXPECT_THAT(second_.pinned(), ElementsAre(1));
}

TEST_F(NodeSetUpTest, NoNodeOfAHostIsPinnedIfOneFindsNoProcessors) {
  first_.claim = std::vector<int>{0};
  second_.claim = absl::ResourceExhaustedError("they are taken");
  SetUpBoth();
  EXPECT_THAT(first_.printed(), HasSubstr("processors: not pinned, node 1: they are taken\n"));
  EXPECT_THAT(first_.pinned(), IsEmpty());
  EXPECT_THAT(second_.pinned(), IsEmpty());
  EXPECT_FALSE(first_.has_claims()) << "other runs may have what is not used";
}

TEST_F(NodeSetUpTest, ANodeSaysWhoseQueuePairItWaitsFor) {
  const auto plane = rdma::ControlPlane::Alone(rdma::HelloOf(0, 1), 7, rdma::Patience(), steady_clock_);
  ASSERT_TRUE(plane.ok()) << plane.status();
  EngineOptions options = OptionsOf(1, 2);
  options.cluster.transport = TransportChoice::kVerbs;
  first_.connected_ns = 5'000'000'000;
  CountProgram program;
  NodeParts parts;
  EXPECT_EQ(NodeSetUp(program, options, **plane, clock_, first_, parts).Run(GoOn), absl::OkStatus());
  const char* const message = "waits for a queue pair to node 0 (process 1000), for at most 1m (--join-timeout)";
  EXPECT_THAT(first_.told(), ElementsAre(message, message));
}

}  // namespace
}  // namespace glaive::engine
