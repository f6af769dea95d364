// Where a node's executors are made: each on its own thread, so that memory lies on the socket of its processor.

#include "engine/cluster/node_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/executor_threads.h"
#include "engine/metrics/machine.h"
#include "engine/sink/discard.h"
#include "rdma/transport/fabric.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Notes which thread asks the fabric for which executor.
class NotingHost final : public Host, public rdma::Fabric {
 public:
  struct Call {
    std::thread::id thread;
    std::vector<int> allowed_cpus;
  };
  const std::vector<std::vector<Call>>& transports() const { return transports_; }  // by executor
  const std::set<std::thread::id>& segment_threads() const { return segment_threads_; }

  void Sleep(absl::Duration /*time*/) override {}
  std::ostream& out() override { return out_; }
  void Tell(const std::string& /*message*/) override {}
  std::uint64_t available_memory_bytes() override { return 0; }
  std::vector<int> allowed_cpus() override { return {}; }
  NumaNodes numa_nodes() override { return {}; }
  absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& /*cpus*/, std::size_t /*count*/) override {
    return std::vector<int>();
  }
  void ReleaseCpus() override {}
  absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& /*options*/,
                                                                const std::string& /*local_address*/) override {
    return nullptr;
  }
  bool HasImmediates(const rdma::VerbsDevice* /*device*/) override { return true; }
  std::string OutOfOrderSetting() override { return ""; }
  std::optional<int> NumaNodeOf(const rdma::VerbsDevice* /*device*/) override { return std::nullopt; }
  void Equip(ExecutorConfig& config) override {
    config.mesh.fabric = this;
    transports_.resize(config.mesh.executor_count);
  }
  void RemovePart(const ResultPart& /*part*/, const std::string& /*path*/) override {}
  std::unique_ptr<ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                             const std::vector<int>& cpus) override {
    return std::make_unique<ExecutorThreads>(executors, cpus);
  }
  absl::StatusOr<std::unique_ptr<rdma::Transport>> MakeTransport(rdma::TransportKind kind,
                                                                 const rdma::TransportOptions& options) override {
    transports_[Value(options.executor)].push_back({std::this_thread::get_id(), AllowedCpus()});
    return rdma::MakeTransport(kind, options);
  }
  absl::StatusOr<rdma::PageRegion> MapSegments(std::size_t size_bytes) override {
    const std::lock_guard lock(mutex_);
    segment_threads_.insert(std::this_thread::get_id());
    return rdma::PageRegion::Map(size_bytes);
  }

 private:
  std::ostringstream out_;
  std::vector<std::vector<Call>> transports_;
  std::mutex mutex_;
  std::set<std::thread::id> segment_threads_;
};

/// The share of a region's pages that are in memory.
double ResidentShare(const rdma::RegionDescriptor& region) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((region.size_bytes + page_bytes - 1) / page_bytes);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(region.address), region.size_bytes, pages.data()), 0);
  const auto resident = std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
  return static_cast<double>(resident) / static_cast<double>(pages.size());
}

class NodeRunTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<NodeRun>> Create(std::vector<int> cpus, bool prefault_rings, const Watch& watch) {
    return NodeRun::Create({.executor = MakeExecutorConfig(workload_, clock_),
                            .node = NodeId{0},
                            .cpus = std::move(cpus),
                            .host = &host_,
                            .prefault_rings = prefault_rings},
                           *query_, watch);
  }

  Workload workload_{.nodes = 1, .executors = 2};
  SteadyClock clock_;
  std::unique_ptr<Query> query_ = From(TestSource(workload_))
                                      .KeyBy(&TestRecord::key)
                                      .Window(Tumbling{absl::Seconds(1)})
                                      .Aggregate(Count{})
                                      .To(Discard{});
  NotingHost host_;
};

TEST_F(NodeRunTest, EachExecutorIsMadeOnItsOwnPinnedThread) {
  const std::vector<int> allowed = AllowedCpus();
  const auto run = Create({allowed.front(), allowed.back()}, /*prefault_rings=*/false, GoOn);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_THAT(host_.transports(), ElementsAre(SizeIs(1), SizeIs(1)));
  const NotingHost::Call& first = host_.transports()[0].front();
  const NotingHost::Call& second = host_.transports()[1].front();
  EXPECT_THAT(first.allowed_cpus, ElementsAre(allowed.front()));
  EXPECT_THAT(second.allowed_cpus, ElementsAre(allowed.back()));
  EXPECT_EQ(host_.segment_threads(), (std::set<std::thread::id>{first.thread, second.thread}));
  EXPECT_NE(first.thread, second.thread);
  EXPECT_NE(first.thread, std::this_thread::get_id());
}

TEST_F(NodeRunTest, RingsAreTakenFromTheSystemBeforePeersWriteThemIfAskedFor) {
  workload_.slot_bytes = 64 << 10;
  workload_.credits = 64;
  for (const bool prefault_rings : {false, true}) {
    const auto run = Create({}, prefault_rings, GoOn);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const rdma::MeshDescriptor& descriptor : (*run)->descriptors()) {
      const double share = ResidentShare(descriptor.exposures.front().region);
      EXPECT_EQ(share > 0.99, prefault_rings) << share;
    }
  }
}

TEST_F(NodeRunTest, TheWatchEndsTheMaking) {
  const auto run = Create({}, /*prefault_rings=*/true, [] { return absl::CancelledError("Ctrl-C"); });
  EXPECT_EQ(run.status(), absl::CancelledError("Ctrl-C"));
}

TEST_F(NodeRunTest, ARingThatCannotBeHadIsTheErrorOfTheNode) {
  workload_.slot_bytes = 7;
  const auto run = Create({}, /*prefault_rings=*/false, GoOn);
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument) << run.status();
}

}  // namespace
}  // namespace glaive::engine
