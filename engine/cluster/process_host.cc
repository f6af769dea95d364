#include "engine/cluster/process_host.h"

#include <iostream>
#include <thread>

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

absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> ProcessHost::OpenDevice(const ClusterOptions& options) {
  return engine::OpenDevice(options);
}

void ProcessHost::RemovePart(const ResultPart& part, const std::string& path) { engine::RemovePart(part, path); }

std::unique_ptr<ExecutorRunner> ProcessHost::MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                                        const std::vector<int>& cpus) {
  return std::make_unique<ExecutorThreads>(executors, cpus);
}

}  // namespace glaive::engine
