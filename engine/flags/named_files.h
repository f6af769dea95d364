// CheckNamedFiles: refuses a command line of which two flags write one file, or one writes a file that another reads.
// The flag that wrote last would win, and the other's content would be lost.
//
// Lists the folders; used by the check of the engine's flags, before a run.
//
//   absl::Status status = CheckNamedFiles(flags.NamedFiles(), options.cluster.executor_count());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/flags/flag.h"

namespace glaive::engine {

/// A flag that names a file, with its value.
struct NamedFile {
  std::string flag;
  std::string path;
  FileUse use = FileUse::kNone;
};

/// InvalidArgument names both flags, or the one whose file cannot be. Two paths are the same file if they are so after
/// links, `.` and `..` are followed, or if they lead to one inode (hard links). Devices and pipes take from all.
/// Only rank 0 writes the files of FileUse::kWrite, so only there has their folder to exist.
absl::Status CheckNamedFiles(const std::vector<NamedFile>& files, std::uint32_t executor_count, bool is_rank_0);

}  // namespace glaive::engine
