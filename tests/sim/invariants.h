// Invariants: what always holds in a cluster, checked from outside while it runs (the numbers are those of
// docs/architecture.md).
//
//   I1 sent - consumed <= c on every ring: after every round, from both ends.
//   I2, I3: see delta_ledger.h.
//   I4 A window's rows come once all flows have passed it: at every row, from the flows themselves.
//   I5 What lies in a ring is taken within some rounds: after every round.
//   I6 State stays within its budget, and segments come back: after every round, and at the end.
//   I7 No flow leads the slowest of its stage by more than --max-lead, and by the delay of results that it is joined
//      with: at every batch, from the flows themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/executor/executor.h"
#include "tests/sim/flow_source.h"
#include "tests/sim/node.h"

namespace glaive::sim {

class Invariants {
 public:
  /// All outlive it.
  Invariants(const Scenario& scenario, const CatalogueEntry& entry, const FlowTruth& truth)
      : scenario_(&scenario), entry_(&entry), truth_(&truth) {}

  /// Before and after a round of an executor. `find`: another executor, null while it does not run. What is broken.
  void BeforeRound(engine::Executor& executor);
  template <typename Find>
  std::optional<std::string> AfterRound(engine::Executor& executor, const Find& find);

  /// An executor has come to its end without error.
  std::optional<std::string> AtEnd(engine::Executor& executor) const;
  /// A row is written.
  std::optional<std::string> AtRow(std::int64_t window_end_ms) const;
  /// A result of the first source is late where it is joined with the second source: while it was idle, its flow has
  /// followed those of the second alone.
  std::optional<std::string> AtLateResult(std::int64_t time_ms) const;
  /// A batch is read next.
  std::optional<std::string> AtBatch(std::size_t source, ExecutorId executor) const;

 private:
  struct Inbound {
    std::uint64_t received = 0;
    bool was_ready = false;
    int rounds_waited = 0;
  };

  std::optional<std::string> CheckRing(const rdma::ChannelSender& sender, const rdma::ChannelReceiver& receiver,
                                       ExecutorId from, ExecutorId to) const;

  const Scenario* scenario_;
  const CatalogueEntry* entry_;
  const FlowTruth* truth_;
  std::map<std::pair<ExecutorId, ExecutorId>, Inbound> inbound_;  // to, from
};

template <typename Find>
std::optional<std::string> Invariants::AfterRound(engine::Executor& executor, const Find& find) {
  if (executor.done()) return executor.status().ok() ? AtEnd(executor) : std::nullopt;
  // Merging takes turns of its own while an index grows, and between runs of entries, each of another slice and with a
  // header of 16 bytes. A message waits for one message of each other channel.
  const std::int64_t runs_of_message = scenario_->slot_bytes / 16;
  const std::int64_t rounds_of_message =
      runs_of_message / scenario_->entries_per_turn + runs_of_message / scenario_->slices_per_turn;
  const std::int64_t most_rounds = 200 + (scenario_->executor_count() - 1) * rounds_of_message;
  for (std::uint32_t other = 0; other < scenario_->executor_count(); ++other) {
    if (ExecutorId{other} == executor.id()) continue;
    const rdma::ChannelReceiver& receiver = executor.mesh().receiver(ExecutorId{other});
    Inbound& inbound = inbound_[{executor.id(), ExecutorId{other}}];
    const bool waits = inbound.was_ready && receiver.received() == inbound.received && !receiver.waits_for_placement();
    inbound.rounds_waited = waits ? inbound.rounds_waited + 1 : 0;
    inbound.received = receiver.received();
    if (inbound.rounds_waited > most_rounds) {
      return absl::StrCat("I5: executor ", Value(executor.id()), " leaves message ", receiver.received() + 1, " of ",
                          other, " where it lies");
    }
    engine::Executor* const there = find(ExecutorId{other});
    if (there == nullptr) continue;
    if (auto broken = CheckRing(there->mesh().sender(executor.id()), receiver, ExecutorId{other}, executor.id())) {
      return broken;
    }
    if (auto broken = CheckRing(executor.mesh().sender(ExecutorId{other}), there->mesh().receiver(executor.id()),
                                executor.id(), ExecutorId{other})) {
      return broken;
    }
  }
  if (executor.memory().mapped_bytes() > executor.memory().limit_bytes()) {
    return absl::StrCat("I6: executor ", Value(executor.id()), " has ", executor.memory().mapped_bytes(),
                        " bytes of state, and may have ", executor.memory().limit_bytes());
  }
  return std::nullopt;
}

}  // namespace glaive::sim
