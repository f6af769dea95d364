// What can go wrong in a simulated cluster, and when: the kinds of faults, and the steps of a run they strike at.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rdma/base/ids.h"

namespace glaive::sim {

enum class FaultKind : std::uint8_t {
  kNone,
  // At any step; the first two are no reason for a run to fail.
  kShortStall,       ///< a node stands still for less than --peer-timeout
  kShortPartition,   ///< two nodes hear nothing of each other for less than that
  kKill,             ///< a node's process ends, and its connections with it
  kPowerLoss,        ///< a node's host is gone without a word
  kLongStall,        ///< a node stands still for longer than --peer-timeout, and then goes on
  kLongPartition,    ///< two nodes hear nothing of each other until retries are exceeded
  kBrokenQueuePair,  ///< the queue pairs between two nodes fail
  // At a step of their own.
  kNoSegments,      ///< no memory for send segments
  kNoRings,         ///< no memory for rings
  kNoRegistration,  ///< the device refuses to register memory
  kNoState,         ///< the state's budget is used up
  kSourceFails,
  kSinkFails,
  kFinishFails,  ///< the sink cannot make sure of what was written
  kCommitFails,
  kEndsAtOnce,  ///< another thread gives the results up and ends the process, while main gives files their names
  // Of files, at a step of their own.
  kInputCut,       ///< a file of the input loses its last bytes after it was listed
  kInputDamaged,   ///< a line of the input is no record
  kInputGone,      ///< a file of the input is removed after it was listed
  kOutputFull,     ///< the disk takes no more bytes of a result
  kOutputRefused,  ///< a file of the result cannot be created
};
inline constexpr std::size_t kFaultKinds = 22;
inline constexpr std::array<std::string_view, kFaultKinds> kFaultNames = {
    "none",           "short-stall", "short-partition", "kill",          "power-loss",      "long-stall",
    "long-partition", "broken-qp",   "no-segments",     "no-rings",      "no-registration", "no-state",
    "source-fails",   "sink-fails",  "finish-fails",    "commit-fails",  "ends-at-once",    "input-cut",
    "input-damaged",  "input-gone",  "output-full",     "output-refused"};

constexpr std::string_view Name(FaultKind kind) { return kFaultNames[static_cast<std::size_t>(kind)]; }
/// Whether it strikes at the step that was drawn, rather than at one of its own.
constexpr bool StrikesAnywhere(FaultKind kind) {
  return kind >= FaultKind::kShortStall && kind <= FaultKind::kBrokenQueuePair;
}
/// Whether a run survives it.
constexpr bool IsHarmless(FaultKind kind) {
  return kind == FaultKind::kNone || kind == FaultKind::kShortStall || kind == FaultKind::kShortPartition;
}
/// Whether it concerns a pair of nodes.
constexpr bool ConcernsTwo(FaultKind kind) {
  return kind == FaultKind::kShortPartition || kind == FaultKind::kLongPartition || kind == FaultKind::kBrokenQueuePair;
}

/// Whether it needs a source that reads files.
constexpr bool IsOfInputFiles(FaultKind kind) { return kind >= FaultKind::kInputCut && kind <= FaultKind::kInputGone; }
/// Whether it needs a sink that writes files.
constexpr bool IsOfOutputFiles(FaultKind kind) { return kind >= FaultKind::kOutputFull; }

/// Where a node is on its way through a run.
enum class Step : std::uint8_t {
  kCreating,    ///< maps segments and rings
  kExchanging,  ///< tells the others of them
  kConnecting,  ///< makes queue pairs
  kOpening,     ///< opens sources, state and sinks
  kReading,     ///< a turn of a source
  kShipping,    ///< a turn of a fiber that sends
  kMerging,     ///< a turn of a fiber that merges
  kFiring,      ///< a turn of a trigger
  kSending,     ///< part of a write of it has arrived
  kReceiving,   ///< part of a write to it has arrived
  kConcluding,  ///< gathers metrics
  kFinished,    ///< says that it has finished
  kCommitting,  ///< makes its results final
  kCommitted,   ///< says that it has
  kLeaving,     ///< says goodbye
};
inline constexpr std::size_t kSteps = 15;
inline constexpr std::array<std::string_view, kSteps> kStepNames = {
    "creating", "exchanging", "connecting", "opening",  "reading",    "shipping",  "merging", "firing",
    "sending",  "receiving",  "concluding", "finished", "committing", "committed", "leaving"};

constexpr std::string_view Name(Step step) { return kStepNames[static_cast<std::size_t>(step)]; }

/// A fault of a scenario.
struct Fault {
  FaultKind kind = FaultKind::kNone;
  Step step = Step::kCreating;  ///< at which it strikes, if it strikes anywhere
  std::int64_t occurrence = 1;  ///< the how many-th time the victim is at the step
  std::int64_t victim = 0;
  std::int64_t other_victim = 0;
};
inline constexpr std::size_t kMostFaults = 2;

/// Told of every step of every node, when it may end or stop nodes, and of every moment between turns of fibers, when
/// the network goes on.
class StepListener {
 public:
  virtual ~StepListener() = default;
  virtual void AtStep(NodeId node, Step step) = 0;
  virtual void BetweenTurns() = 0;
  /// The node's fault of this kind has just struck.
  virtual void Strike(NodeId node, FaultKind kind) = 0;
};

}  // namespace glaive::sim
