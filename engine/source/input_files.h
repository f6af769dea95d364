// Input files: which files an input specification names, and which executor reads which of them.
//
// A specification is a file, a folder (its files; folders inside it are left out) or a pattern with `*`, `?` and
// `[...]`. Files whose names begin with `.` or `_` are left out of folders, as Hadoop does: they are markers like
// _SUCCESS and checksums; a pattern matches them where it has the `.` or `_` itself. Files are sorted by their path,
// byte by byte; each is a part, and parts count from 0.
//
// Executor e of n reads the parts e, e + n, e + 2n, ... one after the other. Where there are k parts, fewer than
// executors, the executors p, p + k, p + 2k, ... share part p (file_share.h). A gzip file cannot be cut: executor p
// reads all of it.
//
// Every node resolves the specification for itself: all must see the same files under the same paths
// (engine/cluster/input_comparison.h).
//
//   absl::StatusOr<std::vector<ListedFile>> files = FindInputFiles("trace/part-*.csv.gz");
//   std::cout << DescribeSplit(files->size(), executor_count) << "\n";
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/source/file_share.h"
#include "engine/source/input_file.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

/// The sorted files, at least one. Lists folders and does not open files. NotFound where there is nothing to read,
/// FailedPrecondition where something cannot be read; the message names it and says what to do.
absl::StatusOr<std::vector<ListedFile>> FindInputFiles(const std::string& specification);

/// The shares of `files` that an executor reads, in its order. Unless `shares_files`, each file is read by one
/// executor.
std::vector<FileShare> FilesOf(std::span<const ListedFile> files, ExecutorId executor, std::uint32_t executor_count,
                               bool shares_files = true);

/// The same in words, as one line: "3 parts among 2 executors: ...".
std::string DescribeSplit(std::size_t files, std::uint32_t executor_count);

}  // namespace glaive::engine
