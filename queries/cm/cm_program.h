// CmProgram: the flags of the `cm` binary, the run they describe, and its check.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "queries/cm/cm_query.h"
#include "queries/common/generated_program.h"

namespace glaive::queries::cm {

class CmProgram final : public GeneratedProgram<TaskEvent, TaskEventTime> {
 public:
  std::string name() const override { return "cm"; }
  std::string summary() const override;
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override;
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override;
  Shape shape() const override;
  std::unique_ptr<Generator<TaskEvent>> MakeGenerator(const InputOptions& input) const override;
  std::unique_ptr<engine::Query> BuildQuery(const Events& events, const ResultSinks& sinks) const override;
  absl::Status CheckLoop() const override;
  std::unique_ptr<engine::Query> BuildLoop(const Events& events, std::uint64_t keys,
                                           const ResultSinks& sinks) const override;
  Verdict Recompute(const Recomputation<TaskEvent>& run) const override;
  std::string column_names() const override;
  void AppendColumns(std::string& line, const TaskEvent& event) const override;
  std::string file_format() const override { return "task_events CSV files of the Google cluster trace"; }
  Events ReadFiles(const std::vector<engine::ListedFile>& files,
                   const engine::LineSourceOptions& options) const override;

 private:
  bool tumbling() const { return profile_ != Profile::kCm1 && profile_ != Profile::kCm2; }

  Profile profile_ = Profile::kSlash;
  absl::Duration window_ = absl::ZeroDuration();  // 0: the profile's
  absl::Duration slide_ = absl::ZeroDuration();   // 0: the profile's
};

}  // namespace glaive::queries::cm
