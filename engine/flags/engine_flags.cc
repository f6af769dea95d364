#include "engine/flags/engine_flags.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/flags/named_files.h"
#include "rdma/base/address.h"

namespace glaive::engine {
namespace {

constexpr char kCluster[] = "Cluster";
constexpr char kChannel[] = "Channel (rdma)";
constexpr char kState[] = "State";
constexpr char kEpochs[] = "Epochs and progress (engine)";
constexpr char kOutput[] = "Output";

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kTiB = kMiB * kMiB;
constexpr std::uint32_t kSlotGranularityBytes = 64;

/// Registers --engine, and --partitioners.
void RegisterEngineChoice(FlagSet& flags, ClusterOptions& options, const ProgramFeatures& features) {
  std::string help =
      "how records come to the state of their keys; slash: each executor updates its own state of all keys, and the "
      "changes are merged late; uppar: some executors read and partition records, and send each to the executor that "
      "has the state of its key";
  std::vector<std::pair<std::string, EngineChoice>> choices = {{"slash", EngineChoice::kSlash},
                                                               {"uppar", EngineChoice::kUpPar}};
  if (features.has_loop) {
    absl::StrAppend(
        &help,
        "; loop: a loop in one thread, which is written by hand for this query; its rows are visible at the end");
    choices.emplace_back("loop", EngineChoice::kLoop);
  }
  flags.AddChoice({.name = "engine", .group = kCluster, .help = std::move(help)}, options.engine, choices);
  flags.AddInteger(
      {.name = "partitioners",
       .group = kCluster,
       .help = "executors of each node that read and partition records with --engine=uppar, or with one "
               "executor a node so many nodes; with --ingest=channel of each two nodes; none: half of them"},
      options.partitioners, {1, 1023});
  flags.AddChoice({.name = "ingest",
                   .group = kCluster,
                   .help = "where the records of an executor come from; direct: it reads them; channel: of each two "
                           "nodes the first reads the sources, and streams all records to the second, which processes "
                           "them; on one node half of the executors read; with --engine=uppar those that read "
                           "partition"},
                  options.ingest, {{"direct", IngestChoice::kDirect}, {"channel", IngestChoice::kChannel}});
}

void RegisterCluster(FlagSet& flags, ClusterOptions& options, const ProgramFeatures& features) {
  flags.AddInteger({.name = "nodes", .group = kCluster, .help = "processes of the run"}, options.nodes, {1, 1024});
  flags.AddInteger({.name = "executors", .group = kCluster, .help = "executors (threads) of each node"},
                   options.executors, {1, 256});
  RegisterEngineChoice(flags, options, features);
  flags.AddInteger({.name = "rank",
                    .group = kCluster,
                    .help = "number of this node, 0 to nodes-1, when the nodes are started by hand; without it, this "
                            "process is rank 0 and starts the others on this host",
                    .scope = FlagScope::kPerRank},
                   options.rank);
  flags.AddString({.name = "coordinator",
                   .group = kCluster,
                   .help = "where rank 0 is, when the nodes are started by hand",
                   .scope = FlagScope::kPerRank},
                  options.coordinator, "HOST:PORT");
  flags.AddString(
      {.name = "bind",
       .group = kCluster,
       .help = "this node's own address: queue pairs are bound to it, and rank 0 listens there; none: rank "
               "0 listens at --coordinator (at all addresses if that is a name with a loopback address here), or at a "
               "free port of 127.0.0.1 when it starts the others itself",
       .scope = FlagScope::kPerRank},
      options.bind, "HOST[:PORT]");
  flags.AddDuration({.name = "join-timeout",
                     .group = kCluster,
                     .help = "how long to wait for the other nodes at the start",
                     .scope = FlagScope::kPerRank},
                    options.join_timeout, {absl::Milliseconds(100), absl::Hours(24)});
  flags.AddDuration({.name = "peer-timeout",
                     .group = kCluster,
                     .help = "a node that is not heard of for that long is lost, and the run ends"},
                    options.peer_timeout, {absl::Milliseconds(500), absl::Hours(24)});
  flags.AddString({.name = "secret-file",
                   .group = kCluster,
                   .help = "file with the run's secret, 32 characters or more, which the nodes prove to each other to "
                           "know; none: the environment variable GLAIVE_SECRET, or one of its own for nodes that this "
                           "process starts",
                   .scope = FlagScope::kPerRank,
                   .file = FileUse::kRead},
                  options.secret_file, "FILE");
}

void RegisterTransport(FlagSet& flags, ClusterOptions& options) {
  flags.AddChoice({.name = "transport",
                   .group = kCluster,
                   .help = "what carries the channels; auto: local inside a process, shm between the processes of "
                           "one host, verbs (RDMA) between hosts"},
                  options.transport,
                  {{"auto", TransportChoice::kAuto},
                   {"shm", TransportChoice::kShm},
                   {"local", TransportChoice::kLocal},
                   {"verbs", TransportChoice::kVerbs}});
  flags.AddString(
      {.name = "device",
       .group = kCluster,
       .help = "RDMA device for verbs, as `rdma link` shows it; none: the one with the address of --bind, or the first "
               "with an active port and an address, of the coordinator's subnet if there is one",
       .scope = FlagScope::kPerRank},
      options.device, "NAME");
  flags.AddInteger({.name = "rdma-tos",
                    .group = kCluster,
                    .help = "traffic class of RDMA packets, the IP header's type of service byte over RoCE and iWARP: "
                            "DSCP times 4; none: the system's"},
                   options.rdma_tos, {0, 255});
  flags.AddChoice(
      {.name = "arrival",
       .group = kCluster,
       .help =
           "how messages arrive over verbs: imm, the device completes a receive for each, or poll, the "
           "receiver polls memory and compares checksums; auto: imm where the devices of all nodes can (not iWARP)"},
      options.arrival,
      {{"auto", ArrivalChoice::kAuto}, {"imm", ArrivalChoice::kImmediate}, {"poll", ArrivalChoice::kPoll}});
  flags.AddChoice({.name = "relaxed-ordering",
                   .group = kCluster,
                   .help = "whether the device may write into this node's memory with PCIe relaxed ordering; auto: on "
                           "processors that are slow without it, not over iWARP",
                   .scope = FlagScope::kPerRank},
                  options.relaxed_ordering,
                  {{"auto", RelaxedOrderingChoice::kAuto},
                   {"on", RelaxedOrderingChoice::kOn},
                   {"off", RelaxedOrderingChoice::kOff}});
}

void RegisterChannel(FlagSet& flags, ChannelSettings& options) {
  flags.AddSize({.name = "slot-bytes",
                 .group = kChannel,
                 .help = "one slot of a ring, the largest message with its footer; a multiple of 64"},
                options.slot_bytes, {256, 16 * kMiB});
  flags.AddInteger({.name = "credits", .group = kChannel, .help = "slots of a ring"}, options.credits, {2, 1024});
  flags.AddSize(
      {.name = "ring-budget",
       .group = kChannel,
       .help = "most ring memory of one node; with many executors rings get fewer and smaller slots to stay below it"},
      options.ring_budget_bytes, {kKiB, kTiB});
}

void RegisterState(FlagSet& flags, StateOptions& options) {
  flags.AddSize({.name = "memory-limit",
                 .group = kState,
                 .help = "most memory of one node, all included; 0: what the machine and its cgroup have",
                 .scope = FlagScope::kPerRank},
                options.memory_limit_bytes, {0, 1024 * kTiB});
  flags.AddSize({.name = "prefault-state",
                 .group = kState,
                 .help = "state memory that each executor takes from the system before the clock starts, so that as "
                         "much of it costs no page faults later; 0: none",
                 .scope = FlagScope::kPerRank},
                options.prefault_bytes, {0, 1024 * kTiB});
  flags.AddSize(
      {.name = "fragment-bytes",
       .group = kState,
       .help = "deltas of each input that an executor may have under way to others; records wait beyond that"},
      options.fragment_bytes, {4 * kKiB, kTiB});
}

void RegisterEpochs(FlagSet& flags, EpochOptions& options) {
  flags.AddSize({.name = "epoch-bytes", .group = kEpochs, .help = "input after which an executor ends its epoch"},
                options.epoch_bytes, {1, 1024 * kTiB});
  flags.AddSize(
      {.name = "epoch-min-bytes", .group = kEpochs, .help = "input of an epoch before a window's end may end it"},
      options.epoch_min_bytes, {0, 1024 * kTiB});
  flags.AddDuration(
      {.name = "epoch-interval", .group = kEpochs, .help = "time after which an epoch ends whatever was read"},
      options.epoch_interval, {absl::Microseconds(10), absl::Hours(1)});
  flags.AddDuration(
      {.name = "max-lead",
       .group = kEpochs,
       .help =
           "how far an executor's event time may be ahead of the slowest one's; 0: 4 times the query's longest window"},
      options.max_lead, {absl::ZeroDuration(), absl::Hours(24 * 365)});
  flags.AddDuration({.name = "idle-timeout",
                     .group = kEpochs,
                     .help = "how long a source has nothing to read before windows no longer wait for its executor; "
                             "what it reads later may be late; 0: they always wait"},
                    options.idle_timeout, {absl::ZeroDuration(), absl::Hours(24 * 365)});
}

void RegisterOutput(FlagSet& flags, OutputOptions& options, const ProgramFeatures& features) {
  flags.AddString(
      {.name = "output",
       .group = kOutput,
       .help = "file for the results as CSV; of several executors each writes a part beside it; none: results are "
               "counted and dropped",
       .file = FileUse::kWriteParts},
      options.output, "FILE");
  flags.AddSwitch({.name = "join-output", .group = kOutput, .help = "join the parts of --output into the one file"},
                  options.join_output);
  flags.AddChoice(
      {.name = "publish",
       .group = kOutput,
       .help = "when results are visible under their names; fired: the rows of a window soon after it fires, and "
               "they stay if the run fails; end: once all nodes have succeeded; auto: fired, but end with "
               "--verify"},
      options.publish,
      {{"auto", PublishChoice::kAuto}, {"fired", PublishChoice::kFired}, {"end", PublishChoice::kEnd}});
  flags.AddString({.name = "json",
                   .group = kOutput,
                   .help = "file for the run's report as one line of JSON (docs/metrics.md), which rank 0 writes",
                   .scope = FlagScope::kPerRank,
                   .file = FileUse::kWrite},
                  options.json, "FILE");
  if (features.has_check) {
    flags.AddSwitch(
        {.name = "verify", .group = kOutput, .help = "recompute the query sequentially and compare every result"},
        options.verify);
  }
  flags.AddSwitch(
      {.name = "explain",
       .group = kOutput,
       .help = "print the plan of the query, and run nothing: what each operator does, and what moves between "
               "executors"},
      options.explain);
  flags.AddChoice(
      {.name = "progress",
       .group = kOutput,
       .help = "progress line of node 0 on standard error; auto: when that is a terminal",
       .scope = FlagScope::kPerRank},
      options.progress,
      {{"auto", ProgressChoice::kAuto}, {"always", ProgressChoice::kAlways}, {"never", ProgressChoice::kNever}});
}

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(text); }

absl::Status CheckCoordinator(const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<rdma::HostPort> where = rdma::ParseHostPort(text);
  if (!where.ok()) return Wrong(absl::StrCat("--coordinator: ", where.status().message()));
  if (where->port == 0) {
    return Wrong(absl::StrCat("--coordinator=", text, ": the port must not be 0; write the one where rank 0 listens"));
  }
  return absl::OkStatus();
}

/// Of --ingest=channel.
absl::Status CheckIngest(const ClusterOptions& options) {
  if (options.engine == EngineChoice::kLoop) {
    return Wrong("--engine=loop is one thread, and reads its own records: leave out --ingest");
  }
  if (options.nodes > 1 && options.nodes % 2 != 0) {
    return Wrong(absl::StrCat("--ingest=channel streams from the first of each two nodes to the second: --nodes=",
                              options.nodes, " must be even"));
  }
  if (options.nodes == 1 && options.executors % 2 != 0) {
    return Wrong(
        absl::StrCat("--ingest=channel streams from half of the executors of one node to the others: "
                     "--executors=",
                     options.executors, " must be even, or raise --nodes to 2"));
  }
  return absl::OkStatus();
}

absl::Status CheckEngine(const ClusterOptions& options) {
  if (options.engine == EngineChoice::kLoop && options.executor_count() > 1) {
    return Wrong("--engine=loop is one thread: leave out --nodes and --executors");
  }
  if (options.ingest == IngestChoice::kChannel) {
    if (absl::Status status = CheckIngest(options); !status.ok()) return status;
  }
  if (options.engine != EngineChoice::kUpPar) {
    return options.partitioners.has_value()
               ? Wrong("--partitioners says how --engine=uppar divides the executors of a node; leave it out")
               : absl::OkStatus();
  }
  const std::uint32_t group = options.group();
  if (group < 2) {
    return Wrong(
        "--engine=uppar needs two executors or more, of which some partition records, and the others have the state of "
        "their keys: raise --executors or --nodes");
  }
  if (options.partitioners.value_or(1) >= group) {
    return Wrong(absl::StrCat("--partitioners=", *options.partitioners, " leaves none of each ", group,
                              " executors to have the state of keys: write at most ", group - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(const ClusterOptions& options) {
  if (absl::Status status = CheckCoordinator(options.coordinator); !status.ok()) return status;
  bool bind_has_port = false;
  if (!options.bind.empty()) {
    const absl::StatusOr<rdma::HostPort> where = rdma::ParseHostMaybePort(options.bind);
    if (!where.ok()) return Wrong(absl::StrCat("--bind: ", where.status().message()));
    bind_has_port = where->port != 0;
  }
  if (options.transport == TransportChoice::kLocal && options.nodes > 1) {
    return Wrong(absl::StrCat("--transport=local reaches no other process, but --nodes=", options.nodes,
                              "; write --transport=auto, or --nodes=1 with more --executors"));
  }
  if (!options.rank.has_value()) {
    if (options.coordinator.empty()) return absl::OkStatus();
    return Wrong("--coordinator needs --rank; without both, this process starts all nodes on this host");
  }
  if (*options.rank >= options.nodes) {
    return Wrong(absl::StrCat("--rank=", *options.rank, ": out of range; with --nodes=", options.nodes,
                              " the ranks are 0 to ", options.nodes - 1));
  }
  if (*options.rank > 0 && options.coordinator.empty()) {
    return Wrong(absl::StrCat("--rank=", *options.rank, " needs --coordinator=host:port, where rank 0 listens"));
  }
  if (*options.rank == 0 && options.nodes > 1 && options.coordinator.empty() && !bind_has_port) {
    return Wrong("--rank=0 needs --coordinator=host:port or --bind=host:port, where the other ranks find it");
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterEngineFlags(FlagSet& flags, EngineOptions& options, const ProgramFeatures& features) {
  RegisterCluster(flags, options.cluster, features);
  RegisterTransport(flags, options.cluster);
  RegisterChannel(flags, options.channel);
  RegisterState(flags, options.state);
  RegisterEpochs(flags, options.epoch);
  RegisterOutput(flags, options.output, features);
  flags.AddCheck([&options] { return Validate(options); });
  flags.AddCheck([&] {
    return CheckNamedFiles(flags.NamedFiles(), options.cluster.executor_count(), options.cluster.rank.value_or(0) == 0);
  });
}

absl::Status Validate(const EngineOptions& options) {
  if (options.cluster.engine == EngineChoice::kLoop && options.state.prefault_bytes > 0) {
    return Wrong("--engine=loop has tables of its own, and no state of the engine: leave out --prefault-state");
  }
  if (absl::Status status = CheckCluster(options.cluster); !status.ok()) return status;
  if (absl::Status status = CheckEngine(options.cluster); !status.ok()) return status;
  if (options.channel.slot_bytes % kSlotGranularityBytes != 0) {
    const std::uint32_t below = options.channel.slot_bytes / kSlotGranularityBytes * kSlotGranularityBytes;
    return Wrong(absl::StrCat("--slot-bytes=", ExactBytes(options.channel.slot_bytes),
                              ": not a multiple of 64; the nearest are ", below, " and ",
                              below + kSlotGranularityBytes));
  }
  if (options.output.join_output && options.output.output.empty()) {
    return Wrong("--join-output needs --output=FILE, the file to join the parts into");
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
