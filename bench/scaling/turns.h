// Turns: runs several subjects (the engine on some executors, the loop in some threads) in turns, as often as is
// wanted, so that all of them see the same machine; prints every run, and compares what they emit.
//
// Used by the main thread.
//
//   Turns turns("ysb", report);
//   turns.Add({.name = "loop 1", .input = "one executor's", .measure = [&] { return RunLoops(workload, 1); }});
//   turns.Add({.name = "engine 1 x 1", .input = "one executor's", .measure = [&] { return RunEngine(...); }});
//   absl::Status status = turns.Run(/*times=*/5);
//   turns.PrintFigure("engine / loop", Ratios(turns.Rates("engine 1 x 1"), turns.Rates("loop 1")));
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bench/scaling/measurement.h"
#include "bench/scaling/report.h"

namespace glaive::bench {

struct Subject {
  std::string name;
  std::string input;  // subjects with the same text here have to emit the same
  std::function<absl::StatusOr<Measurement>()> measure;
};

class Turns {
 public:
  /// `report` outlives it.
  Turns(std::string workload, Report& report) : workload_(std::move(workload)), report_(&report) {}

  void Add(Subject subject) { subjects_.push_back(std::move(subject)); }
  /// What subjects of the input have to emit, according to `who`; without this, what the first one does.
  void Expect(const std::string& input, const std::string& who, const queries::Totals& totals) {
    expected_[input] = {.who = who, .totals = totals};
  }

  /// DataLoss if two of the same input differ.
  absl::Status Run(std::uint64_t times);

  /// The runs of a subject, one for each turn.
  const std::vector<Measurement>& RunsOf(const std::string& subject) const { return runs_.at(subject); }
  std::vector<double> Rates(const std::string& subject) const { return Figures(subject, &Measurement::rate); }
  std::vector<double> Figures(const std::string& subject, double (Measurement::*figure)() const) const;

  /// Prints the figures' median and range, followed by `remark`, and adds them to the report.
  void PrintFigure(const std::string& name, std::vector<double> figures, const std::string& remark = "") const;

 private:
  struct Expected {
    std::string who;
    queries::Totals totals;
  };

  absl::Status RunOne(const Subject& subject, std::uint64_t turn);

  std::string workload_;
  Report* report_;
  std::vector<Subject> subjects_;
  std::map<std::string, Expected> expected_;              // by input
  std::map<std::string, std::vector<Measurement>> runs_;  // by subject
};

/// Element by element.
std::vector<double> Ratios(const std::vector<double>& numerators, const std::vector<double>& denominators);

}  // namespace glaive::bench
