// RunFiles: the names of a run's result files, claimed before its work begins: the parts that this node's executors
// will write, and at rank 0 the joined result, the report and the files that its query's program writes, such as
// exports. So a run whose end could not be written, or that another run keeps from its names, is refused at its start.
//
// Used by the main thread of a node (node_session.h).
//
//   RunFiles files;
//   absl::Status status = files.Open(options, flags.NamedFiles(), plane);
//   ... the run ...   status = files.Join(parts, executor_count, result_files);   status = files.WriteReport(report);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/files/completeness.h"
#include "engine/files/file_claims.h"
#include "engine/files/result_part.h"
#include "engine/files/whole_file.h"
#include "engine/flags/engine_options.h"
#include "engine/flags/named_files.h"
#include "engine/metrics/run_report.h"
#include "rdma/base/watch.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

class RunFiles {
 public:
  /// Claims the parts of this node, for each flag of FileUse::kWriteParts and kWriteFolder, and at rank 0 the files of
  /// FileUse::kWrite.
  /// Every node calls it, and when it returns all have. A node that does not see the folder of --join-output, or that
  /// was told of a --json which rank 0 was not, returns FailedPrecondition.
  absl::Status Open(const EngineOptions& options, const std::vector<NamedFile>& files, rdma::ControlPlane& plane);

  /// From which sinks take their parts, and the query's program its files.
  FileClaims& claims() { return claims_; }
  /// How far this node's parts are published, by name.
  std::map<std::string, Completeness> published() const { return claims_.published(); }

  /// With --join-output, joins the committed parts of --output into one file, if there are several. `files` are those
  /// that hold the results then: if it fails, the parts. `watch` may end it.
  absl::Status Join(const std::vector<ResultPart>& parts, std::uint32_t executor_count, std::vector<FileReport>& files,
                    const Watch& watch);
  /// With --json, writes the report.
  absl::Status WriteReport(const RunReport& report);

 private:
  absl::Status Claim(const ClusterOptions& cluster, const NamedFile& file, std::uint32_t rank);
  absl::Status ClaimJoined();
  absl::Status CompareWith(const std::string& coordinator, std::uint32_t rank) const;

  OutputOptions options_;
  FileClaims claims_;
  std::optional<WholeFile> joined_;
};

}  // namespace glaive::engine
