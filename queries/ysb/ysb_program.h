// YsbProgram: the flags of the `ysb` binary, the run they describe, and its check.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "queries/common/generated_program.h"
#include "queries/ysb/ysb_query.h"

namespace glaive::queries::ysb {

class YsbProgram final : public GeneratedProgram<YsbEvent, YsbEventTime> {
 public:
  std::string name() const override { return "ysb"; }
  std::string summary() const override;
  std::vector<engine::ComparedInput> inputs() const override;
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override { input.keys = 10'000'000; }
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override;
  Shape shape() const override;
  std::unique_ptr<Generator<YsbEvent>> MakeGenerator(const InputOptions& input) const override;
  std::unique_ptr<engine::Query> BuildQuery(const Events& events, const ResultSinks& sinks) const override;
  std::unique_ptr<engine::Query> BuildLoop(const Events& events, std::uint64_t keys,
                                           const ResultSinks& sinks) const override;
  Verdict Recompute(const Recomputation<YsbEvent>& run) const override;
  std::string column_names() const override { return "ad_id,event_type"; }
  void AppendColumns(std::string& line, const YsbEvent& event) const override;
  absl::Status LoadTables(const Watch& watch) override;
  absl::Status ExportTables(engine::FileClaims& claims) const override;
  std::string file_format() const override { return "files of JSON lines as Yahoo's generator writes them"; }
  Events ReadFiles(const std::vector<engine::ListedFile>& files,
                   const engine::LineSourceOptions& options) const override;

 private:
  absl::Status CheckAds() const;

  Profile profile_ = Profile::kSlash;
  absl::Duration window_ = absl::ZeroDuration();    // 0: the profile's
  std::string export_ads_;                          // CSV file, or empty
  std::string ads_;                                 // file of the ads that --input has, or empty
  std::string ads_content_;                         // their number and a checksum of what they say
  std::shared_ptr<const CampaignTable> campaigns_;  // of these; null without
};

}  // namespace glaive::queries::ysb
