// Report: all figures of the benchmark as one JSON object, written at the end.
//
//   {"program": "scaling_bench", "version": .., "commit": .., "machine": {..}, "settings": {flag: text},
//    "runs": [{"workload": "ysb", "run": 0, "subject": "engine 1 x 2", "records": .., "seconds": .., ..}],
//    "figures": [{"workload": "ysb", "figure": "loop 2/1", "median": .., "least": .., "most": ..}]}
//
// Used by the main thread.
//
//   absl::StatusOr<Report> report = Report::Create("figures.json", flags.AllSettings());
//   report->AddRun("ysb", 0, "engine 1 x 2", measurement);
//   absl::Status status = report->Write();
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/scaling/measurement.h"
#include "bench/scaling/spread.h"
#include "engine/files/whole_file.h"

namespace glaive::bench {

class Report {
 public:
  /// Opens the file, so that one that cannot be written is found before the runs; an empty path is no file.
  static absl::StatusOr<Report> Create(const std::string& path, const std::map<std::string, std::string>& settings);

  void AddRun(const std::string& workload, std::uint64_t run, const std::string& subject, const Measurement& measured);
  void AddFigure(const std::string& workload, const std::string& figure, const Spread& spread);

  absl::Status Write();

 private:
  Report() = default;

  std::optional<engine::WholeFile> file_;
  nlohmann::json content_;
};

}  // namespace glaive::bench
