#include "queries/common/file_flags.h"

#include <iostream>

#include "absl/strings/str_cat.h"

namespace glaive::queries {

void RegisterFileFlags(engine::FlagSet& flags, FileFlags& values, const std::string& format) {
  const std::string group = "Input";
  flags.AddString(
      {.name = "input",
       .group = group,
       .help = absl::StrCat("reads ", format,
                            ", plain or gzip, in place of generated records: a file, a "
                            "folder, or a pattern in quotes; executor e of n reads the parts e, e + n, ...; with "
                            "fewer parts than executors, executors share a part"),
       .file = engine::FileUse::kRead},
      values.input, "PATH");
  flags.AddChoice(
      {.name = "on-bad-record",
       .group = group,
       .help = "what a line of --input that cannot be read does: it ends the run, or is skipped and counted"},
      values.on_bad_record, {{"fail", engine::OnBadRecord::kFail}, {"skip", engine::OnBadRecord::kSkip}});
}

absl::Status CheckFileFlags(const engine::FlagSet& flags, const FileFlags& values,
                            std::span<const std::string_view> generated) {
  if (values.input.empty()) {
    return flags.WasGiven("on-bad-record")
               ? absl::InvalidArgumentError("--on-bad-record is about the lines of --input; leave it out without")
               : absl::OkStatus();
  }
  for (const std::string_view flag : generated) {
    if (flags.WasGiven(flag)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", std::string(flag), " is about generated records; leave it out with --input"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<engine::ListedFile>> FindFiles(const FileFlags& values,
                                                          const engine::EngineOptions& options) {
  absl::StatusOr<std::vector<engine::ListedFile>> files = engine::FindInputFiles(values.input);
  if (!files.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--input: ", std::string(files.status().message())));
  }
  if (options.cluster.rank.value_or(0) == 0) {
    std::cout << "input " << values.input << ": "
              << engine::DescribeSplit(files->size(), options.cluster.roles().reader_count())
              << (options.cluster.roles().all_read() ? "" : " (of the executors that read)") << "\n";
  }
  return files;
}

}  // namespace glaive::queries
