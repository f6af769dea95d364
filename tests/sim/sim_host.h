// SimHost: what all simulated hosts have in common: nobody reads what they print, memory for everything, and neither
// processors to pin to nor an RDMA device.
//
//   class MyHost final : public SimHost { ... };
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/cluster/host.h"
#include "rdma/transport/fabric.h"

namespace glaive::sim {

class SimHost : public engine::Host, public rdma::Fabric {
 public:
  std::ostream& out() override { return nowhere_; }
  void Tell(const std::string& /*message*/) override {}
  std::uint64_t available_memory_bytes() override { return std::uint64_t{64} << 30; }
  std::vector<int> allowed_cpus() override { return {}; }
  NumaNodes numa_nodes() override { return {}; }
  absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& /*cpus*/, std::size_t /*count*/) override {
    return absl::ResourceExhaustedError("simulated: no processors");
  }
  void ReleaseCpus() override {}
  absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const engine::ClusterOptions& /*options*/,
                                                                const std::string& /*local_address*/) override {
    return nullptr;
  }
  bool HasImmediates(const rdma::VerbsDevice* /*device*/) override { return true; }
  std::string OutOfOrderSetting() override { return ""; }
  std::optional<int> NumaNodeOf(const rdma::VerbsDevice* /*device*/) override { return std::nullopt; }
  void RemovePart(const engine::ResultPart& /*part*/, const std::string& /*path*/) override {}

 private:
  std::ostringstream nowhere_;
};

}  // namespace glaive::sim
