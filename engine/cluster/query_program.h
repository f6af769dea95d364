// QueryProgram: what a query's binary adds to the engine: its flags, its query and its check.
//
// Implemented once a query and handed to Main (main.h), which makes one for programs that are a function. All calls
// come from the main thread.
//
//   class Squares final : public QueryProgram {
//    public:
//     std::string name() const override { return "squares"; }
//     void RegisterFlags(FlagSet& flags) override { flags.AddInteger({.name = "last", .group = "Squares"}, last_); }
//     absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& options, std::uint32_t, FileClaims&,
//                                                  const Watch&) override {
//       return FromRange(1, last_ + 1).Map(&Square).To(Csv{options.output.output});
//     }
//    ...
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "engine/executor/roles.h"
#include "engine/files/file_claims.h"
#include "engine/flags/engine_options.h"
#include "engine/flags/flag_set.h"
#include "engine/source/compared_input.h"
#include "rdma/base/ids.h"
#include "rdma/base/watch.h"
#include "state/index/key_hash.h"

namespace glaive::engine {

/// What a run turned out to be, for checking it.
struct RunFacts {
  Roles roles;                              // of the executors of the whole run
  std::vector<std::uint64_t> records_read;  // by executor that reads (Roles::ReaderOf)
  std::vector<ExecutorId> executors;        // of this node
  state::KeyHash key_hash;                  // by which keys have their leaders

  /// Whether this node's executors are all of the run.
  bool all_are_here() const { return executors.size() == roles.executor_count(); }
};

/// The check of --verify: holds the rows of a run against a sequential recomputation that shares no code with the
/// engine.
class RunCheck {
 public:
  virtual ~RunCheck() = default;

  /// Bytes that a node needs for it, in a run in which `reader_count` executors read.
  virtual std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const = 0;
  /// At every node: checks the rows that its leaders emitted. Returns what CheckRun needs; DataLoss says what is wrong.
  /// That may take as long as the run did, so it asks `watch`.
  virtual absl::StatusOr<std::string> CheckNode(const RunFacts& facts, const Watch& watch) = 0;
  /// At every node once all have passed CheckNode: checks the run as a whole from what those returned.
  virtual absl::Status CheckRun(std::span<const std::string> nodes) = 0;
};

class QueryProgram {
 public:
  virtual ~QueryProgram() = default;

  /// The binary's name, as in messages and results.
  virtual std::string name() const = 0;
  /// First lines of --help.
  virtual std::string summary() const { return ""; }
  /// Adds the query's own flags; their variables live as long as the program.
  virtual void RegisterFlags(FlagSet& /*flags*/) {}

  /// Builds the query for `executor_count` executors, after the flags have been read; options.cluster.roles() says
  /// which of them read. `claims` has the files of the program's flags of FileUse::kWrite at rank 0, and at other ranks
  /// none; no other way leads to these names. Where Build takes long (files to read or write), it asks `watch`.
  virtual absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& options, std::uint32_t executor_count,
                                                       FileClaims& claims, const Watch& watch) = 0;

  /// What each node reads for itself besides the files of the query's sources, which announce themselves: what Build
  /// has read of a table, for example. Nodes that differ do not start. Names are different.
  virtual std::vector<ComparedInput> inputs() const { return {}; }

  /// Whether the program has a hand-written loop, which Build makes a query of with --engine=loop. Build may refuse
  /// that for some of the program's flags. The flag of a program without a loop has no such choice.
  virtual bool has_loop() const { return false; }

  /// What --verify runs; null: the program has no such flag. It lives as long as the program.
  virtual RunCheck* check() { return nullptr; }
};

}  // namespace glaive::engine
