// FileFlags: the flags of queries that read files in place of generated input.
//
//   FileFlags flags;
//   RegisterFileFlags(flag_set, flags, "task_events CSV files");
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "engine/flags/flag_set.h"
#include "engine/source/line_source.h"

namespace glaive::queries {

struct FileFlags {
  std::string input;  // a file, a folder or a pattern; empty: generated input
  engine::OnBadRecord on_bad_record = engine::OnBadRecord::kFail;
};

/// `format` says what the files are.
void RegisterFileFlags(engine::FlagSet& flags, FileFlags& values, const std::string& format);

/// InvalidArgument naming a flag that was given and has no effect: those of generated input where files are read, and
/// the other way round.
absl::Status CheckFileFlags(const engine::FlagSet& flags, const FileFlags& values);

}  // namespace glaive::queries
