// Host: the machine that a node's process runs on, as the node uses it. A simulated node has a simulated host.
//
// One for a run, used by the node's main thread; outlives the session. ProcessHost is what every program has.
//
//   host.Sleep(absl::Milliseconds(1));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "engine/cluster/executor_runner.h"
#include "engine/executor/executor.h"
#include "engine/files/result_part.h"
#include "engine/flags/engine_options.h"
#include "rdma/base/numa_nodes.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::engine {

class Host {
 public:
  virtual ~Host() = default;

  /// Lets time go by.
  virtual void Sleep(absl::Duration time) = 0;
  /// The stream of the texts that people read: plans at the start, the table of the report.
  virtual std::ostream& out() = 0;
  /// Tells people that a wait takes long, and of whom it is for.
  virtual void Tell(const std::string& message) = 0;
  /// Bytes of memory that the node may take.
  virtual std::uint64_t available_memory_bytes() = 0;
  /// The processors that executors may run on, ascending.
  virtual std::vector<int> allowed_cpus() = 0;
  /// The NUMA nodes of the host.
  virtual NumaNodes numa_nodes() = 0;
  /// The first `count` of `cpus` that no other run has, and reserves them until ReleaseCpus; an error says why there
  /// are fewer.
  virtual absl::StatusOr<std::vector<int>> ClaimCpus(const std::vector<int>& cpus, std::size_t count) = 0;
  /// Gives all claimed processors back.
  virtual void ReleaseCpus() = 0;
  /// The device that --device and --bind choose for verbs; null where the fabric makes do without one. `local_address`
  /// of this node's connection to the coordinator, or empty: devices near it come first.
  virtual absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& options,
                                                                        const std::string& local_address) = 0;
  /// Whether messages can arrive by immediate values over a device from OpenDevice.
  virtual bool HasImmediates(const rdma::VerbsDevice* device) = 0;
  /// A setting of this host that lets its RDMA device place bytes out of order, "NAME=value"; empty: none is known.
  virtual std::string OutOfOrderSetting() = 0;
  /// The NUMA node of a device from OpenDevice; absent: unknown, of no importance on this host, or no device.
  virtual std::optional<int> NumaNodeOf(const rdma::VerbsDevice* device) = 0;
  /// Adds to an executor's configuration what this host has of its own: a fabric, a scheduler.
  virtual void Equip(ExecutorConfig& config) = 0;
  /// Takes a part of the results back, if it lies at `path`, its name; for any thread. Takes no memory.
  virtual void RemovePart(const ResultPart& part, const std::string& path) = 0;
  /// The runner of the executors, which outlive it and are made in its first step; `cpus` as for ExecutorThreads.
  virtual std::unique_ptr<ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<Executor>> executors,
                                                     const std::vector<int>& cpus) = 0;
};

}  // namespace glaive::engine
