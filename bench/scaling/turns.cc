#include "bench/scaling/turns.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/scaling/spread.h"

namespace glaive::bench {
namespace {

std::string DescribeLatency(const Measurement& run) {
  return run.latency.windows == 0
             ? ""
             : absl::StrFormat("; windows p50 %.2f ms, p99 %.2f ms", run.latency_p50_ms(), run.latency_p99_ms());
}

std::string DescribeTuples(const Measurement& run) {
  return run.kept_tuples == 0 ? ""
                              : absl::StrFormat("; %.1f bytes a kept tuple", static_cast<double>(run.kept_tuple_bytes) /
                                                                                 static_cast<double>(run.kept_tuples));
}

}  // namespace

absl::Status Turns::Run(std::uint64_t times) {
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    for (const Subject& subject : subjects_) {
      if (absl::Status status = RunOne(subject, turn); !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Turns::RunOne(const Subject& subject, std::uint64_t turn) {
  const absl::StatusOr<Measurement> run = subject.measure();
  if (!run.ok()) {
    return absl::Status(run.status().code(),
                        absl::StrCat(workload_, ", ", subject.name, ": ", std::string(run.status().message())));
  }
  const auto [expected, is_first] =
      expected_.try_emplace(subject.input, Expected{.who = subject.name, .totals = run->totals});
  const queries::Totals& totals = expected->second.totals;
  if (!is_first && run->totals != totals) {
    return absl::DataLossError(
        absl::StrFormat("%s: %s emitted %d rows with a sum of %d and a checksum of %x, %s %d rows with a sum of %d and "
                        "a checksum of %x",
                        workload_, subject.name, run->totals.rows, run->totals.value_sum, run->totals.checksum,
                        expected->second.who, totals.rows, totals.value_sum, totals.checksum));
  }
  absl::PrintF("%s run %d, %s: %.1f M records/s, %.2f ns of processor time a record, %d rows%s%s\n", workload_, turn,
               subject.name, run->rate(), run->processor_nanos_a_record(), run->totals.rows, DescribeLatency(*run),
               DescribeTuples(*run));
  std::fflush(stdout);
  report_->AddRun(workload_, turn, subject.name, *run);
  runs_[subject.name].push_back(*run);
  return absl::OkStatus();
}

std::vector<double> Turns::Figures(const std::string& subject, double (Measurement::*figure)() const) const {
  std::vector<double> figures;
  std::ranges::transform(RunsOf(subject), std::back_inserter(figures), std::mem_fn(figure));
  return figures;
}

void Turns::PrintFigure(const std::string& name, std::vector<double> figures, const std::string& remark) const {
  const Spread spread = SpreadOf(std::move(figures));
  absl::PrintF("%s, %s: %.2f (%.2f to %.2f)%s\n", workload_, name, spread.median, spread.least, spread.most, remark);
  std::fflush(stdout);
  report_->AddFigure(workload_, name, spread);
}

std::vector<double> Ratios(const std::vector<double>& numerators, const std::vector<double>& denominators) {
  std::vector<double> ratios;
  std::ranges::transform(numerators, denominators, std::back_inserter(ratios), std::divides<>());
  return ratios;
}

}  // namespace glaive::bench
