// RunFiles: the files that rank 0 writes when a run has succeeded: the joined result and the report. They are open from
// the start, so that a run whose end could not be written is refused.
//
// Used by the main thread of a node (node_session.h).
//
//   RunFiles files;
//   absl::Status status = files.Open(options.output, plane);
//   ... the run ...   status = files.Join(parts, executor_count, result_files);   status = files.WriteReport(report);
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "engine/cluster/engine_options.h"
#include "engine/metrics/run_report.h"
#include "engine/sink/result_part.h"
#include "engine/sink/whole_file.h"
#include "rdma/base/watch.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

class RunFiles {
 public:
  /// Opens the files at rank 0. Every node calls it: a node that does not see the folder of --join-output, or that was
  /// told of a --json which rank 0 was not, returns FailedPrecondition.
  absl::Status Open(const OutputOptions& options, rdma::ControlPlane& plane);

  /// With --join-output, joins the committed parts of --output into one file. `files` are those that hold the results
  /// then: if it fails, the parts. `watch` may end it.
  absl::Status Join(const std::vector<ResultPart>& parts, std::uint32_t executor_count, std::vector<FileReport>& files,
                    const Watch& watch);
  /// With --json, writes the report.
  absl::Status WriteReport(const RunReport& report);

 private:
  absl::Status OpenOwn();
  absl::Status CompareWith(const std::string& coordinator, std::uint32_t rank) const;

  OutputOptions options_;
  std::optional<WholeFile> joined_;
  std::optional<WholeFile> report_;
};

}  // namespace glaive::engine
