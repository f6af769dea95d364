// MemoryPlan: the memory that a node needs, compared with the memory of its machine before anything is allocated.
//
// A run that cannot fit should say so at its start, in terms of its flags, and not be killed by the kernel later
// (invariant I6). What is fixed (sources, segments, rings, arrivals) is counted first; what remains, with a reserve for
// everything else, is the budget of the executors' state.
//
//   absl::StatusOr<MemoryPlan> plan = PlanMemory(needs, AvailableMemoryBytes());
//   std::cout << plan->Describe();
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace glaive::engine {

/// Of one node.
struct MemoryNeeds {
  std::uint32_t executors = 1;
  std::uint32_t readers = 1;         // executors that read the sources
  std::uint32_t nodes_on_host = 1;   // they share what the host has
  std::uint64_t source_bytes = 0;    // of one executor that reads
  std::uint64_t segment_bytes = 0;   // of one executor
  std::uint64_t inbox_bytes = 0;     // of one executor: records of exchanges that wait for it
  std::uint64_t ring_bytes = 0;      // of one executor
  std::uint64_t arrival_bytes = 0;   // of one executor: credit words and queues of immediate values
  std::uint64_t verify_bytes = 0;    // of the node, for --verify
  std::uint64_t table_bytes = 0;     // of the node, taken before the plan: what is available is without them
  std::uint64_t limit_bytes = 0;     // --memory-limit of the node; 0: its share of what the host has
  std::uint64_t prefault_bytes = 0;  // --prefault-state of one executor
};

struct MemoryPlan {
  MemoryNeeds needs;
  std::uint64_t available_bytes = 0;           // on the host, for all nodes
  std::uint64_t node_bytes = 0;                // the node's limit
  std::uint64_t state_bytes_per_executor = 0;  // what is left for state

  /// A few lines for people.
  std::string Describe() const;
};

/// The least state an executor can do anything with.
inline constexpr std::uint64_t kMinStateBytes = std::uint64_t{8} << 20;

/// ResourceExhausted when the fixed parts leave less than kMinStateBytes an executor or less than is to be prefaulted,
/// or --memory-limit exceeds what there is; the message lists the parts and the flags that change them.
absl::StatusOr<MemoryPlan> PlanMemory(const MemoryNeeds& needs, std::uint64_t available_bytes);

/// Memory that can be taken without swapping: the least of what the system has available and of what the limits of this
/// process's cgroups (v2 or v1) leave, whose inactive page cache is no use of memory. `root` is put before /proc and
/// /sys, for tests.
std::uint64_t AvailableMemoryBytes(const std::string& root = "");

}  // namespace glaive::engine
