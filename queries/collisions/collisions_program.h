// CollisionsProgram: the flags of the `collisions` binary, the run they describe, and its check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/query_program.h"
#include "engine/sink/results.h"
#include "engine/source/input_files.h"
#include "queries/collisions/collisions_query.h"
#include "queries/common/file_flags.h"

namespace glaive::queries::collisions {

class CollisionsProgram final : public engine::QueryProgram, public engine::RunCheck {
 public:
  std::string name() const override { return "collisions"; }
  std::string summary() const override;
  void RegisterFlags(engine::FlagSet& flags) override;
  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& options,
                                                       std::uint32_t executor_count, engine::FileClaims& claims,
                                                       const Watch& watch) override;
  engine::RunCheck* check() override { return this; }
  std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const override;
  absl::StatusOr<std::string> CheckNode(const engine::RunFacts& facts, const Watch& watch) override;
  absl::Status CheckRun(std::span<const std::string> nodes) override;

 private:
  absl::Status CheckFlags(const engine::FlagSet& flags) const;
  absl::StatusOr<engine::SourceSpec<Collision, engine::NoEventTime>> MakeSource(const engine::EngineOptions& options);
  /// Where the rows of the questions that are asked go.
  Answers MakeAnswers(const engine::EngineOptions& options, std::uint32_t executor_count);
  bool asks_all() const { return question_ == kQuestions; }
  bool asks(std::size_t question) const { return asks_all() || question_ == question; }
  /// The most bytes of a question's rows that --verify holds.
  std::int64_t most_line_bytes() const;

  std::size_t question_ = kQuestions;            // kQuestions: all of them
  std::array<std::string, kQuestions> outputs_;  // CSV files of each, with all of them, or empty
  std::uint64_t records_ = 1'000'000;            // of an executor
  std::uint64_t seed_ = 1;
  std::string export_input_;  // CSV file, or empty
  FileFlags files_;
  std::vector<engine::ListedFile> listed_;  // what --input names
  // By question, shared with the sinks; null without --verify, or where it is not asked.
  std::array<std::shared_ptr<engine::RetainedLines>, kQuestions> lines_;
};

}  // namespace glaive::queries::collisions
