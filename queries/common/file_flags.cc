#include "queries/common/file_flags.h"

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

absl::Status CheckFileFlags(const engine::FlagSet& flags, const FileFlags& values) {
  if (values.input.empty()) {
    return flags.WasGiven("on-bad-record")
               ? absl::InvalidArgumentError("--on-bad-record is about the lines of --input; leave it out without")
               : absl::OkStatus();
  }
  for (const char* flag : {"records", "seconds", "seed", "keys", "key-distribution", "hot-key-share", "event-rate",
                           "rate", "disorder", "idle-flows", "idle-for"}) {
    if (flags.WasGiven(flag)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, " describes generated records; leave it out with --input"));
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::queries
