#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/metrics/run_report.h"
#include "engine/sink/whole_file.h"

namespace glaive::engine {

absl::Status WriteJsonFile(const RunReport& report, const std::string& path) {
  const absl::Status status = WriteWholeFile(path, ToJsonLine(report));
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat("cannot write --json=", path, ": ", status.message()));
}

}  // namespace glaive::engine
