// FileFlags: the flags of queries that read files in place of generated input.
//
//   FileFlags flags;
//   RegisterFileFlags(flag_set, flags, "task_events CSV files");
#pragma once

#include <cstdint>
#include <string>

#include "engine/flags/flag_set.h"
#include "engine/source/line_source.h"

namespace glaive::queries {

struct FileFlags {
  std::string input;  // a file, a folder or a pattern; empty: generated input
  engine::OnBadRecord on_bad_record = engine::OnBadRecord::kFail;
};

/// `format` says what the files are.
void RegisterFileFlags(engine::FlagSet& flags, FileFlags& values, const std::string& format);

}  // namespace glaive::queries
