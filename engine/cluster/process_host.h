// ProcessHost: the machine that this process really runs on: its threads, memory and devices, and standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/cpu_claims.h"
#include "engine/cluster/host.h"

namespace glaive::engine {

class ProcessHost final : public Host {
 public:
  /// `tell` writes a line on standard error.
  explicit ProcessHost(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  void Sleep(absl::Duration time) override;
  std::ostream& out() override;
  void Tell(const std::string& message) override { tell_(message); }
  std::uint64_t available_memory_bytes() override;
  std::vector<int> allowed_cpus() override;
  NumaNodes numa_nodes() override { return NumaNodes::Read(); }
  absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& cpus, std::size_t count) override;
  void ReleaseCpus() override;
  absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& options,
                                                                const std::string& local_address) override;
  bool HasImmediates(const rdma::VerbsDevice* device) override;
  /// Of mlx5 (NVIDIA, "Out-of-order data placement"). Adaptive routing is set on switches, which no host can see.
  std::string OutOfOrderSetting() override;
  std::optional<int> NumaNodeOf(const rdma::VerbsDevice* device) override;
  /// Nothing: executors use the system's fabric.
  void Equip(ExecutorConfig& /*config*/) override {}
  void RemovePart(const ResultPart& part, const std::string& path) override;
  std::unique_ptr<ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                             const std::vector<int>& cpus) override;

 private:
  std::function<void(const std::string&)> tell_;
  CpuClaims claims_;
};

}  // namespace glaive::engine
