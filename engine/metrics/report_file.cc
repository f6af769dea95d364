#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/metrics/run_report.h"
#include "engine/sink/whole_file.h"

namespace glaive::engine {

absl::Status WriteJsonFile(const RunReport& report, const std::string& path) {
  absl::StatusOr<WholeFile> file = WholeFile::Create(path);
  absl::Status status = file.status();
  if (status.ok()) {
    status = file->Write(ToJsonLine(report));
  }
  if (status.ok()) {
    status = file->Commit();
  }
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat("cannot write --json=", path, ": ", status.message()));
}

}  // namespace glaive::engine
