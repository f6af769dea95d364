#include "engine/cluster/process_host.h"

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/cluster/executor_threads.h"
#include "engine/cluster/memory_plan.h"
#include "engine/cluster/transport_plan.h"
#include "engine/metrics/machine.h"

namespace glaive::engine {

void ProcessHost::Sleep(absl::Duration time) { std::this_thread::sleep_for(absl::ToChronoNanoseconds(time)); }

std::ostream& ProcessHost::out() { return std::cout; }

std::uint64_t ProcessHost::available_memory_bytes() { return AvailableMemoryBytes(); }

std::vector<int> ProcessHost::allowed_cpus() { return AllowedCpus(); }

absl::StatusOr<std::vector<int>> ProcessHost::ClaimCpus(const std::vector<int>& cpus, std::size_t count) {
  return claims_.Take(cpus, count);
}

void ProcessHost::ReleaseCpus() { claims_.Release(); }

absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> ProcessHost::OpenDevice(const ClusterOptions& options,
                                                                           const std::string& local_address) {
  return engine::OpenDevice(options, local_address);
}

bool ProcessHost::HasImmediates(const rdma::VerbsDevice* device) {
  return device != nullptr && device->info().has_immediates();
}

std::string ProcessHost::OutOfOrderSetting() {
  constexpr const char* kName = "MLX5_RELAXED_PACKET_ORDERING_ON";
  const char* const value = std::getenv(kName);
  const bool is_on = value != nullptr && *value != '\0' && std::string_view(value) != "0";
  return is_on ? absl::StrCat(kName, "=", value) : "";
}

std::optional<int> ProcessHost::NumaNodeOf(const rdma::VerbsDevice* device) {
  return device == nullptr ? std::nullopt : device->info().numa_node;
}

void ProcessHost::RemovePart(const ResultPart& part, const std::string& path) { engine::RemovePart(part, path); }

std::unique_ptr<ExecutorRunner> ProcessHost::MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                                        const std::vector<int>& cpus) {
  return std::make_unique<ExecutorThreads>(executors, cpus);
}

}  // namespace glaive::engine
