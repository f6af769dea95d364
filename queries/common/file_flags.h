// FileFlags: the flags of queries that read files in place of generated input.
//
//   FileFlags flags;
//   RegisterFileFlags(flag_set, flags, "task_events CSV files");
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/flags/engine_options.h"
#include "engine/flags/flag_set.h"
#include "engine/source/input_files.h"
#include "engine/source/line_source.h"

namespace glaive::queries {

struct FileFlags {
  std::string input;  // a file, a folder or a pattern; empty: generated input
  engine::OnBadRecord on_bad_record = engine::OnBadRecord::kFail;
};

/// `format` says what the files are.
void RegisterFileFlags(engine::FlagSet& flags, FileFlags& values, const std::string& format);

/// The flags of InputFlags (input_flags.h) that describe generated records.
inline constexpr std::array<std::string_view, 11> kGeneratedFlags = {
    "records",    "seconds", "seed",     "keys",       "key-distribution", "hot-key-share",
    "event-rate", "rate",    "disorder", "idle-flows", "idle-for"};

/// InvalidArgument naming a flag that was given and has no effect: one of `generated` where files are read, and
/// --on-bad-record where none are. `flags` has all of `generated`.
absl::Status CheckFileFlags(const engine::FlagSet& flags, const FileFlags& values,
                            std::span<const std::string_view> generated = kGeneratedFlags);

/// The files that --input names, which is not empty. Rank 0 prints which executors read which. Errors are
/// InvalidArgument and name the flag.
absl::StatusOr<std::vector<engine::ListedFile>> FindFiles(const FileFlags& values,
                                                          const engine::EngineOptions& options);

}  // namespace glaive::queries
