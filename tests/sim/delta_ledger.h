// DeltaLedger: which chunks of deltas every executor owes every other, for invariants I2 and I3.
//
//   I2 A leader merges each chunk that was queued for it exactly once and in order, with the same entries and texts: at
//      every merge.
//   I3 A watermark is seen only behind all that it covers: a row of a window comes once the chunks of all others up to
//      the window's end have been merged where it comes from; at every row. How far chunks go at most is told by the
//      flows themselves, when they are queued. (A marker that runs ahead of the records of its own batch shows in the
//      results only.) A marker of a source says no more than its flow has come to, or may follow while it is idle.
//
//   ledger.OnQueued(from, to, chunk); ... ledger.OnMerged(from, to, chunk); problem = ledger.broken();
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "rdma/base/ids.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_reader.h"
#include "tests/sim/event.h"
#include "tests/sim/flow_source.h"

namespace glaive::sim {

class DeltaLedger {
 public:
  /// What a run's watermarks are.
  struct Options {
    std::uint32_t executors = 1;
    std::uint32_t first_input = 0;  ///< of a stage
    bool inputs_are_sources =
        false;                     ///< a stage's input i takes in source i, or the only one; else any may take in any
    bool unites_sources = false;   ///< with inputs_are_sources: one input takes in all of them
    std::int64_t lateness_ms = 0;  ///< by which watermarks are behind those of the flows
  };

  /// `truth` outlives it.
  DeltaLedger(const Options& options, const FlowTruth& truth) : options_(options), truth_(&truth) {}

  void OnQueued(ExecutorId from, ExecutorId to, const state::DeltaChunk& chunk);
  void OnMerged(ExecutorId from, ExecutorId to, const state::DeltaChunk& chunk);
  /// What merges have broken first.
  const std::optional<std::string>& broken() const { return broken_; }
  /// `leader` writes a row. What is broken.
  std::optional<std::string> AtRow(ExecutorId leader, std::int64_t window_end_ms) const;
  /// All executors have come to their end without error. What is broken.
  std::optional<std::string> AtEnd() const;

 private:
  struct Chunk {
    state::DeltaTag tag;
    std::uint64_t hash = 0;                 ///< of its runs and texts
    std::int64_t covers_ms = kBeginningMs;  ///< with a marker: how far the flows had been read
  };
  struct Ring {
    std::deque<Chunk> under_way;
    std::map<std::uint32_t, std::int64_t> merged_ms;  ///< by input
  };

  std::int64_t CoveredNow(ExecutorId executor, std::uint32_t input) const;

  Options options_;
  const FlowTruth* truth_;
  std::set<std::uint32_t> inputs_;  ///< that chunks have been seen of
  std::optional<std::string> broken_;
  std::map<std::pair<ExecutorId, ExecutorId>, Ring> rings_;  ///< from, to
};

}  // namespace glaive::sim
