// NexmarkProgram: the flags of the `nexmark` binary, the run of one of the suite's queries that they describe, and its
// check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/query_program.h"
#include "engine/sink/results.h"
#include "queries/nexmark/events/event_generator.h"
#include "queries/nexmark/suite/event_flows.h"
#include "queries/nexmark/suite/event_input.h"
#include "queries/nexmark/suite/query_definition.h"
#include "queries/nexmark/suite/query_files.h"

namespace glaive::queries::nexmark::suite {

class NexmarkProgram final : public engine::QueryProgram, public engine::RunCheck {
 public:
  std::string name() const override { return "nexmark"; }
  std::string summary() const override;
  void RegisterFlags(engine::FlagSet& flags) override;
  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& options,
                                                       std::uint32_t executor_count, engine::FileClaims& claims,
                                                       const Watch& watch) override;
  std::vector<engine::ComparedInput> inputs() const override { return files_.inputs(); }
  bool has_loop() const override { return true; }
  engine::RunCheck* check() override { return this; }
  std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const override;
  absl::StatusOr<std::string> CheckNode(const engine::RunFacts& facts, const Watch& watch) override;
  absl::Status CheckRun(std::span<const std::string> nodes) override;

 private:
  enum class Format : std::uint8_t { kFull, kLean };
  enum class Profile : std::uint8_t { kFlink, kBeam, kRenoir, kSlash, kOriginal };

  const QueryDefinition& query() const;
  absl::Status CheckFlags() const;
  /// InvalidArgument if the query has no hand-written loop, or if events are made live or come out of order.
  absl::Status CheckLoop() const;
  /// Gives events the profile's sizes where flags say nothing of them.
  void SetSizes(const engine::FlagSet& flags);
  /// The events as the flags describe them: by the profile's rules, without the texts that a lean format goes without.
  EventInput input() const;
  /// The windows that the profile has, or the flags.
  SuiteOptions suite_options() const;
  /// The most bids whose times a node retains: those of all executors. 0: the query is another than q12.
  std::uint64_t most_read_times(std::uint32_t reader_count) const;
  /// The most bytes that a node retains of rows.
  std::uint64_t most_line_bytes(std::uint32_t reader_count) const;

  std::size_t query_ = 0;  // of AllQueries()
  Profile profile_ = Profile::kFlink;
  Format format_ = Format::kFull;
  std::optional<absl::Duration> window_;
  std::optional<absl::Duration> slide_;
  EventInput input_;
  QueryFiles files_;
  std::shared_ptr<const events::EventGenerator> generator_;
  std::shared_ptr<engine::RetainedLines> lines_;  // shared with the sinks
  std::shared_ptr<ReadTimes> read_times_;         // likewise; null: q12 is not checked
};

}  // namespace glaive::queries::nexmark::suite
