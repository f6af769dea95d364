// WordcountProgram: the flags of the `wordcount` binary, the run they describe, and its check.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/query_program.h"
#include "engine/source/input_files.h"
#include "queries/common/file_flags.h"
#include "queries/common/input_flags.h"
#include "queries/common/result_sinks.h"
#include "queries/wordcount/word_oracle.h"
#include "queries/wordcount/wordcount_query.h"

namespace glaive::queries::wordcount {

class WordcountProgram final : public engine::QueryProgram, public engine::RunCheck {
 public:
  std::string name() const override { return "wordcount"; }
  std::string summary() const override;
  bool has_loop() const override { return true; }
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
  absl::StatusOr<WordCounts> Recount(const engine::RunFacts& facts, const Watch& watch) const;
  /// The most rows of a run, roughly.
  double most_rows(std::uint32_t reader_count) const;
  std::int64_t window_ms() const;  // the event times of the other forms cover ten, too
  std::int64_t checked_window_ms() const { return options_.form == Form::kWindowed ? window_ms() : 0; }

  WordcountOptions options_;
  InputFlags input_;
  FileFlags files_;
  std::vector<engine::ListedFile> listed_;  // what --input names
  std::optional<ResultSinks> sinks_;
};

}  // namespace glaive::queries::wordcount
