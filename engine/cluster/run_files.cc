#include "engine/cluster/run_files.h"

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/cluster/protocol_error.h"
#include "engine/files/part_file.h"

namespace glaive::engine {
namespace {

constexpr const char* kReportFlag = "json";

absl::Status OfFlag(const char* flag, const std::string& path, const absl::Status& status) {
  return {status.code(), absl::StrCat("--", flag, "=", path, ": ", std::string(status.message()))};
}

/// What rank 0 says of its files: whether it writes a report, and the temporary file of the joined result.
std::string Announcement(bool has_report, const std::optional<WholeFile>& joined) {
  return absl::StrCat(has_report ? 1 : 0, " ", joined.has_value() ? joined->inode() : 0, " ",
                      joined.has_value() ? joined->temporary() : "");
}

}  // namespace

absl::Status RunFiles::Open(const EngineOptions& options, const std::vector<NamedFile>& files,
                            rdma::ControlPlane& plane) {
  options_ = options.output;
  claims_.SetPublication(options_.publishes_while_running() ? Publication::kWhileRunning : Publication::kEnd);
  const auto rank = Value(plane.rank());
  for (const NamedFile& file : files) {
    if (absl::Status status = Claim(options.cluster, file, rank); !status.ok()) {
      return OfFlag(file.flag.c_str(), file.path, status);
    }
  }
  if (rank == 0 && options_.join_output && options.cluster.executor_count() > 1) {
    if (absl::Status status = ClaimJoined(); !status.ok()) {
      return OfFlag("output", options_.output, status);
    }
  }
  const absl::StatusOr<std::vector<std::string>> nodes =
      plane.AllGather("files", rank == 0 ? Announcement(claims_.FileOf(kReportFlag) != nullptr, joined_) : "");
  if (!nodes.ok()) {
    return nodes.status();
  }
  return rank == 0 ? absl::OkStatus() : CompareWith(nodes->front(), rank);
}

absl::Status RunFiles::Claim(const ClusterOptions& cluster, const NamedFile& file, std::uint32_t rank) {
  if (file.use == FileUse::kWrite && rank == 0) {
    return claims_.Claim(file.flag, file.path);
  }
  const bool is_folder = file.use == FileUse::kWriteFolder;
  const bool has_parts = is_folder || file.use == FileUse::kWriteParts;
  absl::Status status = is_folder ? claims_.ClaimFolder(file.path) : absl::OkStatus();
  for (std::uint32_t i = 0; has_parts && i < cluster.executors && status.ok(); ++i) {
    status = claims_.ClaimPart(is_folder ? ListPath(file.path) : file.path, ExecutorId{rank * cluster.executors + i},
                               cluster.executor_count());
  }
  return status;
}

absl::Status RunFiles::ClaimJoined() {
  absl::StatusOr<WholeFile> file = WholeFile::Create(options_.output);
  if (!file.ok()) {
    return file.status();
  }
  joined_.emplace(*std::move(file));
  return absl::OkStatus();
}

absl::Status RunFiles::CompareWith(const std::string& coordinator, std::uint32_t rank) const {
  const std::vector<std::string> fields = absl::StrSplit(coordinator, absl::MaxSplits(' ', 2));
  int has_report = 0;
  std::uint64_t inode = 0;
  if (fields.size() != 3 || !absl::SimpleAtoi(fields[0], &has_report) || !absl::SimpleAtoi(fields[1], &inode)) {
    return ProtocolError(0, "it does not say which files it writes");
  }
  if (!options_.json.empty() && has_report == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--json=", options_.json, " was given to rank ", rank,
                     ", but rank 0 writes the report and has no --json; give it to rank 0"));
  }
  struct stat there{};
  if (options_.join_output && (lstat(fields[2].c_str(), &there) != 0 || there.st_ino != inode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--join-output needs a folder that all nodes share, but rank ", rank, " does not find rank 0's ",
                     fields[2], "; leave it out, and each node has its own parts of --output=", options_.output));
  }
  return absl::OkStatus();
}

absl::Status RunFiles::Join(const std::vector<ResultPart>& parts, std::uint32_t executor_count,
                            std::vector<FileReport>& files, const Watch& watch) {
  std::vector<FileReport> others;
  std::vector<ResultPart> to_join;
  FileReport whole{.path = options_.output};
  for (const ResultPart& part : parts) {
    files.push_back({.path = PathOf(part, executor_count), .rows = part.rows, .bytes = part.bytes});
    if (part.output == options_.output) {
      to_join.push_back(part);
      whole.rows += part.rows;
    } else {
      others.push_back(files.back());
    }
  }
  if (!joined_.has_value()) {
    return absl::OkStatus();
  }
  if (absl::Status status = JoinParts(*joined_, to_join, watch); !status.ok()) {
    return {status.code(), absl::StrCat("they are in parts: ", std::string(status.message()))};
  }
  whole.bytes = joined_->bytes();
  files = std::move(others);
  files.insert(files.begin(), std::move(whole));
  return absl::OkStatus();
}

absl::Status RunFiles::WriteReport(const RunReport& report) {
  WholeFile* const file = claims_.FileOf(kReportFlag);
  const absl::Status status = file == nullptr ? absl::OkStatus() : file->WriteAndCommit(ToJsonLine(report));
  return status.ok() ? status : OfFlag(kReportFlag, options_.json, status);
}

}  // namespace glaive::engine
