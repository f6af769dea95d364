#include "queries/nexmark/suite/query_files.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include <xxhash.h>

namespace glaive::queries::nexmark::suite {
namespace {

constexpr const char* kPartitionsFlag = "partitions";
constexpr const char* kReadTimesFlag = "read-times";
constexpr const char* kSideInputFlag = "side-input";
constexpr const char* kExportSideInputFlag = "export-side-input";

absl::Status CheckIsOf(std::string_view query, const char* flag, const std::string& value, std::string_view owner) {
  return value.empty() || query == owner
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat("--", flag, " is of ", std::string(owner),
                                                       "; leave it out with --query=", std::string(query)));
}

}  // namespace

void QueryFiles::Register(engine::FlagSet& flags, const std::string& group) {
  flags.AddString({.name = kPartitionsFlag,
                   .group = group,
                   .help = "of q10: writes the bids as CSV into this folder, which is empty or made, and there into a "
                           "folder of each day and minute",
                   .file = engine::FileUse::kWriteFolder},
                  partitions_, "FOLDER");
  flags.AddInteger({.name = "most-partitions",
                    .group = group,
                    .help = "of q10: folders of minutes into which an executor may write; each takes an open file"},
                   most_partitions_, {.min = 1, .max = 1'000'000});
  flags.AddString({.name = kReadTimesFlag,
                   .group = group,
                   .help = "of q12: writes the time at which each bid was read to a CSV file, with its bidder",
                   .file = engine::FileUse::kWriteParts},
                  read_times_, "FILE");
  flags.AddString({.name = kSideInputFlag,
                   .group = group,
                   .help = "of q13: the table that bids are joined with, a CSV file of a key (an auction modulo 10000) "
                           "and its value in each row; each node reads the file, which has to be the same everywhere; "
                           "by default a table of all keys",
                   .file = engine::FileUse::kRead},
                  side_input_, "FILE");
  flags.AddString({.name = kExportSideInputFlag,
                   .group = group,
                   .help = "of q13: writes the table of all keys to a CSV file before the run",
                   .file = engine::FileUse::kWrite},
                  export_side_input_, "FILE");
}

absl::Status QueryFiles::Check(std::string_view query) const {
  absl::Status status = CheckIsOf(query, kPartitionsFlag, partitions_, "q10");
  status.Update(CheckIsOf(query, kReadTimesFlag, read_times_, "q12"));
  status.Update(CheckIsOf(query, kSideInputFlag, side_input_, "q13"));
  status.Update(CheckIsOf(query, kExportSideInputFlag, export_side_input_, "q13"));
  if (!side_input_.empty() && !export_side_input_.empty()) {
    status.Update(absl::InvalidArgumentError(
        "--export-side-input writes the table that bids are joined with by default, so it does not go with "
        "--side-input"));
  }
  return status;
}

absl::Status QueryFiles::Load(engine::FileClaims& claims, const Watch& watch) {
  if (!side_input_.empty()) {
    absl::StatusOr<SideInput> table = ReadSideInput(side_input_, watch);
    if (!table.ok()) {
      // The watch's own status says why the run ends, which is not the flag's fault.
      const absl::Status ended = watch();
      return ended.ok() ? absl::Status(table.status().code(),
                                       absl::StrCat("--", kSideInputFlag, ": ", std::string(table.status().message())))
                        : ended;
    }
    const std::string csv = SideInputAsCsv(*table);
    side_input_content_ = absl::StrCat(table->size(), table->size() == 1 ? " row with" : " rows with the checksum ",
                                       absl::Hex(XXH3_64bits(csv.data(), csv.size()), absl::kZeroPad16));
    table_ = std::make_shared<const SideInput>(*std::move(table));
  }
  engine::WholeFile* const file = claims.FileOf(kExportSideInputFlag);
  return file == nullptr ? absl::OkStatus() : file->WriteAndCommit(SideInputAsCsv(AllSideKeys()));
}

std::vector<engine::ComparedInput> QueryFiles::inputs() const {
  return side_input_.empty() ? std::vector<engine::ComparedInput>()
                             : std::vector<engine::ComparedInput>{{side_input_, side_input_content_}};
}

void QueryFiles::AddTo(SuiteOptions& options) const {
  options.partitions = partitions_;
  options.most_partitions = most_partitions_;
  options.read_times_file = read_times_;
  options.side_input = table_;
}

}  // namespace glaive::queries::nexmark::suite
