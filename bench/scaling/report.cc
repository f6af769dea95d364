#include "bench/scaling/report.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/metrics/build_info.h"
#include "engine/metrics/machine.h"

namespace glaive::bench {

absl::StatusOr<Report> Report::Create(const std::string& path, const std::map<std::string, std::string>& settings) {
  Report report;
  if (!path.empty()) {
    absl::StatusOr<engine::WholeFile> file = engine::WholeFile::Create(path);
    if (!file.ok()) {
      return file.status();
    }
    report.file_.emplace(*std::move(file));
  }
  const engine::MachineInfo machine = engine::DescribeMachine();
  report.content_ = {{"program", "scaling_bench"},
                     {"version", engine::Version()},
                     {"commit", engine::Commit()},
                     {"machine",
                      {{"cpu_model", machine.cpu_model},
                       {"cores", machine.cores},
                       {"memory_bytes", machine.memory_bytes},
                       {"kernel", machine.kernel}}},
                     {"settings", settings},
                     {"runs", nlohmann::json::array()},
                     {"figures", nlohmann::json::array()}};
  return report;
}

void Report::AddRun(const std::string& workload, std::uint64_t run, const std::string& subject,
                    const Measurement& measured) {
  content_["runs"].push_back({{"workload", workload},
                              {"run", run},
                              {"subject", subject},
                              {"records", measured.records},
                              {"seconds", measured.seconds},
                              {"processor_seconds", measured.processor_seconds},
                              {"million_records_per_second", measured.rate()},
                              {"results", measured.totals.rows},
                              {"windows", measured.latency.windows},
                              {"window_latency_p50_ns", measured.latency.p50_ns},
                              {"window_latency_p99_ns", measured.latency.p99_ns},
                              {"state_bytes", measured.state_bytes},
                              {"kept_tuples", measured.kept_tuples},
                              {"kept_tuple_bytes", measured.kept_tuple_bytes}});
}

void Report::AddFigure(const std::string& workload, const std::string& figure, const Spread& spread) {
  content_["figures"].push_back({{"workload", workload},
                                 {"figure", figure},
                                 {"median", spread.median},
                                 {"least", spread.least},
                                 {"most", spread.most}});
}

absl::Status Report::Write() {
  if (!file_.has_value()) {
    return absl::OkStatus();
  }
  absl::Status status = file_->Write(absl::StrCat(content_.dump(), "\n"));
  return status.ok() ? file_->Commit() : status;
}

}  // namespace glaive::bench
