#include "bench/scaling/skew.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "bench/scaling/engine_run.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

constexpr Deployment kDeployment{.nodes = 1, .executors = 2};
constexpr int kFifths = 10;  // of the exponent, that there are

/// One distribution of keys. Its input exists only while it is read: ten of them would not fit the memory.
class SkewedKeys {
 public:
  SkewedKeys(const WorkloadKind& kind, const std::string& law, bool prefault) : kind_(kind), prefault_(prefault) {
    kind_.input.key_distribution = law;
    kind_.input.executors = kDeployment.executor_count();
  }

  absl::StatusOr<Measurement> Measure() {
    const absl::StatusOr<Workload> workload = MakeWorkload(kind_, kind_.input);
    if (!workload.ok()) {
      return workload.status();
    }
    if (prefault_) {
      const absl::StatusOr<std::uint64_t> bytes = StateToPrefault(*workload, kDeployment, prefault_);
      if (!bytes.ok()) {
        return bytes.status();
      }
      state_bytes_ = *bytes;
      prefault_ = false;
    }
    return RunEngine(*workload, kDeployment, state_bytes_);
  }

 private:
  WorkloadKind kind_;
  bool prefault_;  // and how much has not been found out yet
  std::uint64_t state_bytes_ = 0;
};

}  // namespace

absl::Status CompareSkew(const WorkloadKind& kind, const Settings& settings, Report& report) {
  std::vector<std::string> laws;
  for (int i = 1; i <= kFifths; ++i) {
    laws.push_back(absl::StrFormat("zipf:%.1f", 0.2 * i));
  }
  Turns turns(kind.name, report);
  for (const std::string& law : laws) {
    const auto keys = std::make_shared<SkewedKeys>(kind, law, settings.prefault);
    turns.Add({.name = law, .input = law, .measure = [keys] { return keys->Measure(); }});
  }
  if (absl::Status status = turns.Run(settings.runs); !status.ok()) {
    return status;
  }
  for (const std::string& law : laws) {
    turns.PrintFigure(law + ", M records/s", turns.Rates(law));
    turns.PrintFigure(law + " / " + laws.front(), Ratios(turns.Rates(law), turns.Rates(laws.front())));
  }
  return absl::OkStatus();
}

}  // namespace glaive::bench
