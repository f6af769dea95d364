// YsbProgram: the flags of the `ysb` binary, the run they describe, and its check.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "engine/cluster/query_program.h"
#include "engine/source/block_source.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/oracle.h"
#include "queries/ysb/ysb_query.h"

namespace glaive::queries::ysb {

/// The flags as given. Zeros stand for defaults that depend on the others.
struct YsbFlags {
  Profile profile = Profile::kSlash;
  std::uint64_t records = 10'000'000;             // of an executor: all, or with `seconds` the block that is repeated
  absl::Duration seconds = absl::ZeroDuration();  // how long to read; 0: until `records` are read
  std::uint64_t seed = 1;
  std::uint64_t keys = 10'000'000;               // slash only
  absl::Duration window = absl::ZeroDuration();  // 0: the profile's
  std::uint64_t event_rate = 0;                  // records a second of event time; 0: 10 windows a block
  double rate = 0;                               // records a second of real time; 0: no limit
  double hot_key_share = 0;
};

class YsbProgram final : public engine::QueryProgram {
 public:
  std::string name() const override { return "ysb"; }
  std::string summary() const override;
  void RegisterFlags(engine::FlagSet& flags) override;
  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& options,
                                                       std::uint32_t executor_count) override;
  std::uint64_t verify_memory_bytes(std::uint32_t executor_count) const override;
  absl::StatusOr<std::string> CheckNode(const engine::RunFacts& facts,
                                        const std::function<absl::Status()>& watch) override;
  absl::Status CheckRun(std::span<const std::string> nodes) override;

  /// The input that the flags describe.
  GeneratorOptions MakeGenerator() const;
  engine::BlockSourceOptions MakeBlock() const;

 private:
  YsbFlags flags_;
  std::vector<std::vector<YsbRow>> rows_;  // by executor, this node's only; empty without --verify
};

}  // namespace glaive::queries::ysb
