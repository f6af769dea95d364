// EngineOptions: everything a run can be told, as plain numbers and strings, grouped as `--help` groups them.
//
// Filled by engine/flags in a program, or by hand in a test. Plain values; no thread owns them. Validate() in
// engine/flags/engine_flags.h says whether they go together.
//
//   EngineOptions options;
//   options.channel.slot_bytes = 4096;
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

#include "engine/executor/roles.h"
#include "rdma/transport/transport_options.h"

namespace glaive::engine {

/// How records come to the state of their keys: see engine/executor/roles.h.
enum class EngineChoice {
  kSlash,  ///< each executor updates its own state of all keys, and leaders merge it late
  kUpPar,  ///< partitioners send each record to the executor that has the state of its key
  kLoop,   ///< no engine: the program's hand-written loop, in one thread
};

/// Which executors process the records that an executor reads.
enum class IngestChoice {
  kDirect,   ///< itself
  kChannel,  ///< those of another node: the first of two nodes reads, and streams to the second
};

/// Which transport carries the channels between nodes.
enum class TransportChoice {
  kAuto,   ///< local inside a process, shm between the processes of a host, verbs between hosts
  kShm,    ///< shm between processes; an error where they are not on one host
  kLocal,  ///< local only; an error when there is more than one node
  kVerbs,  ///< verbs between all nodes, and inside the node when there is only one
};

/// How messages arrive over verbs: see rdma/transport/arrival.h.
enum class ArrivalChoice {
  kAuto,       ///< kImmediate where the device has immediate values
  kImmediate,  ///< completions of WRITEs with an immediate value
  kPoll,       ///< the receiver polls memory, and checksums decide
};

/// Whether devices may place data in rings with PCIe relaxed ordering.
enum class RelaxedOrderingChoice {
  kAuto,  ///< on processors where it is known to pay
  kOn,
  kOff,
};

/// When results are visible under their names.
enum class PublishChoice {
  kAuto,   ///< kFired, but with --verify kEnd
  kFired,  ///< the rows of a window soon after it fires; other rows soon after they are made
  kEnd,    ///< once all nodes have succeeded: the results as a whole or none
};

/// When the progress line is shown.
enum class ProgressChoice {
  kAuto,  ///< when standard error is a terminal
  kAlways,
  kNever,
};

struct ClusterOptions {
  std::uint32_t nodes = 1;      ///< processes of the run
  std::uint32_t executors = 1;  ///< executors (threads) of a node
  EngineChoice engine = EngineChoice::kSlash;
  IngestChoice ingest = IngestChoice::kDirect;
  std::optional<std::uint32_t> partitioners;  ///< of each group() with kUpPar; absent: half of it
  std::optional<std::uint32_t> rank;          ///< absent: this process is rank 0 and starts the others
  std::string coordinator;                    ///< "host:port" of rank 0, or empty
  std::string bind;  ///< "host" or "host:port" of this node: rank 0 listens there, or when empty
                     ///< at `coordinator`, and without one at a free port of 127.0.0.1; queue
                     ///< pairs are bound there
  absl::Duration join_timeout = absl::Seconds(60);
  absl::Duration peer_timeout = absl::Seconds(5);  ///< silence of a node that means its death
  std::string secret_file;                         ///< holds what only the run's nodes know, or empty
  TransportChoice transport = TransportChoice::kAuto;
  std::string device;  ///< RDMA device for verbs; empty: the first that has an active port and an address
  std::optional<std::uint32_t> rdma_tos;  ///< traffic class of RDMA packets, 0 to 255; absent: the system's
  ArrivalChoice arrival = ArrivalChoice::kAuto;
  RelaxedOrderingChoice relaxed_ordering = RelaxedOrderingChoice::kAuto;

  /// Executors of all nodes.
  std::uint32_t executor_count() const { return nodes * executors; }
  /// Executors that kUpPar divides into partitioners and leaders, and kChannel into those that read and the others:
  /// with kChannel those of two nodes, else those of each node, or of all nodes together if a node has but one.
  std::uint32_t group() const {
    return ingest == IngestChoice::kChannel && nodes > 1 ? 2 * executors : Roles::GroupOf(nodes, executors);
  }
  /// What each executor does.
  Roles roles() const {
    if (engine == EngineChoice::kUpPar) {
      return Roles::Partitioned(executor_count(), group(), partitioners.value_or(group() / 2));
    }
    return ingest == IngestChoice::kChannel ? Roles::Fed(executor_count(), group()) : Roles(executor_count());
  }
  /// The rank of the node that the executor belongs to.
  std::uint32_t NodeOf(std::uint32_t executor) const { return executor / executors; }
};

struct ChannelSettings {
  std::uint32_t slot_bytes = 64u << 10;          ///< one slot of a ring, its 64 B footer included
  std::uint32_t credits = 8;                     ///< slots of a ring
  std::uint64_t ring_budget_bytes = 1ull << 30;  ///< the most ring memory of one node
};

struct StateOptions {
  std::uint64_t memory_limit_bytes = 0;       ///< of one node; 0: what the machine and its cgroup have
  std::uint64_t prefault_bytes = 0;           ///< state memory that each executor takes before the clock starts
  std::uint64_t fragment_bytes = 1ull << 20;  ///< deltas of an input under way to other executors
};

struct EpochOptions {
  std::uint64_t epoch_bytes = 64ull << 20;     ///< input after which an executor's epoch ends
  std::uint64_t epoch_min_bytes = 1ull << 20;  ///< input before a window boundary may end it
  absl::Duration epoch_interval = absl::Milliseconds(10);
  absl::Duration max_lead = absl::ZeroDuration();   ///< event time ahead of the slowest; 0: 4 times the longest window
  absl::Duration idle_timeout = absl::Seconds(10);  ///< silence of a source before others go on without it; 0: never
};

struct OutputOptions {
  std::string output;        ///< CSV file of the results, or empty
  bool join_output = false;  ///< one file of all leaders' parts
  PublishChoice publish = PublishChoice::kAuto;
  std::string json;      ///< file for the run's report as one line of JSON, or empty
  bool verify = false;   ///< recompute the query sequentially and compare
  bool explain = false;  ///< print the plan of the query, and run nothing
  ProgressChoice progress = ProgressChoice::kAuto;

  /// Whether results are visible while the run goes on.
  bool publishes_while_running() const {
    return publish == PublishChoice::kFired || (publish == PublishChoice::kAuto && !verify);
  }
};

struct EngineOptions {
  ClusterOptions cluster;
  ChannelSettings channel;
  StateOptions state;
  EpochOptions epoch;
  OutputOptions output;
};

}  // namespace glaive::engine
