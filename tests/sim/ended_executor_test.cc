// An executor that has ended watches its connections until all executors of its node have ended.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/cluster/node_run.h"
#include "engine/sink/discard.h"
#include "tests/sim/flows_of.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_host.h"

namespace glaive::sim {
namespace {

using ::testing::HasSubstr;

/// A host of one simulated network, where whoever runs executors is told how.
class TestHost final : public SimHost {
 public:
  using Drive = std::function<absl::Status(const Watch&)>;

  TestHost(Network& network, Drive drive) : network_(&network), drive_(std::move(drive)) {}

  void Sleep(absl::Duration /*time*/) override {}
  void Equip(engine::ExecutorConfig& config) override { config.mesh.fabric = this; }
  std::unique_ptr<engine::ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<engine::Executor>> executors,
                                                     const std::vector<int>& /*cpus*/) override {
    return std::make_unique<Runner>(executors, drive_);
  }
  absl::StatusOr<std::unique_ptr<rdma::Transport>> MakeTransport(rdma::TransportKind kind,
                                                                 const rdma::TransportOptions& options) override {
    return network_->MakeTransport(kind, options, {});
  }
  absl::StatusOr<rdma::PageRegion> MapSegments(std::size_t size_bytes) override {
    return rdma::PageRegion::Map(size_bytes);
  }

 private:
  class Runner final : public engine::ExecutorRunner {
   public:
    Runner(std::span<const std::unique_ptr<engine::Executor>> executors, Drive drive)
        : executors_(executors), drive_(std::move(drive)) {}

    absl::Status OnEach(Step step, const Watch& watch) override {
      absl::Status status;
      for (std::size_t i = 0; i < executors_.size(); ++i) status.Update(step(i, watch));
      return status;
    }
    absl::Status Open(const Watch& watch) override {
      absl::Status status;
      for (const auto& executor : executors_) status.Update(executor->Open(watch));
      for (const auto& executor : executors_) status.Update(status.ok() ? executor->Start() : status);
      return status;
    }
    absl::Status Run(const Watch& watch) override { return drive_(watch); }

   private:
    std::span<const std::unique_ptr<engine::Executor>> executors_;
    Drive drive_;
  };

  Network* network_;
  Drive drive_;
};

class EndedExecutorTest : public ::testing::Test, NetworkObserver, SourceListener {
 protected:
  void SetUp() override {
    for (std::uint32_t node = 0; node < 2; ++node) {
      engine::ExecutorConfig config;
      config.mesh.executor_count = 2;
      config.mesh.run_token = 7;
      config.max_lead_ms = 1'000;
      config.fragment_bytes = 64 << 10;
      config.state_limit_bytes = 64 << 20;
      config.clock = &clock_;
      auto run = engine::NodeRun::Create({.executor = config, .node = NodeId{node}, .cpus = {}, .host = &host_},
                                         *query_, &Nothing);
      ASSERT_TRUE(run.ok()) << run.status();
      runs_.push_back(*std::move(run));
    }
    std::vector<rdma::MeshDescriptor> all;
    for (const auto& run : runs_) all.push_back(run->descriptors().front());
    for (const auto& run : runs_) ASSERT_EQ(run->Connect(all, &Nothing), absl::OkStatus());
    time_.Advance(1'000'000);
    for (const auto& run : runs_) {
      ASSERT_FALSE(run->PollConnecting(&Nothing)->has_value());
      ASSERT_EQ(run->Open(&Nothing), absl::OkStatus());
    }
  }

  static absl::Status Nothing() { return absl::OkStatus(); }
  void OnArrival(NodeId /*from*/, NodeId /*to*/, std::size_t /*arrived*/, std::size_t /*length*/) override {}
  void OnViolation(const std::string& what) override { ADD_FAILURE() << what; }
  absl::Status OnBatch(std::size_t /*source*/, ExecutorId /*executor*/) override { return absl::OkStatus(); }

  /// Lets the network and all executors go on until that of node 0 has ended.
  absl::Status EndAndBreak() {
    for (int round = 0; round < 100'000 && !runs_[0]->executors().front()->done(); ++round) {
      time_.Advance(10'000);
      while (network_.Deliver()) {
      }
      for (const auto& run : runs_) {
        if (!run->executors().front()->done()) run->executors().front()->RunRound();
      }
    }
    engine::Executor& ended = *runs_[0]->executors().front();
    EXPECT_TRUE(ended.done());
    ended.PollChannels();
    EXPECT_EQ(ended.status(), absl::OkStatus());
    network_.Break(NodeId{0}, NodeId{1});
    time_.Advance(1'000'000'000);  // it polls now and then
    ended.PollChannels();
    return ended.status();
  }

  VirtualTime time_;
  SkewedClock clock_{time_, 0};
  Network network_{{}, time_, Random(1, Purpose::kNetwork), *this};
  TestHost host_{network_, [this](const Watch& /*watch*/) { return EndAndBreak(); }};
  Input input_{.sources = {std::vector<Flow>(2, Flow{{.events = {{.key = 1}, {.key = 2}}, .watermark_ms = 10}})}};
  FlowTruth truth_{1, engine::Roles(2), time_, Scenario().idle_timeout_ns(), /*one_is_silent=*/true};
  std::unique_ptr<engine::Query> query_ = engine::From(FlowsOf{&input_, &truth_, this}.Source(0))
                                              .KeyBy(&Event::key)
                                              .Window(engine::Tumbling{absl::Seconds(1)})
                                              .Aggregate(engine::Count{})
                                              .To(engine::Discard{});
  std::vector<std::unique_ptr<engine::NodeRun>> runs_;
};

TEST_F(EndedExecutorTest, ALostConnectionEndsTheRun) {
  const absl::Status status = runs_[0]->Run(&Nothing);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the connection to node 1 was lost (seen by executor 0"));
}

}  // namespace
}  // namespace glaive::sim
