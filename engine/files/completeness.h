// Completeness: up to where a result file that still grows is complete. A reader finds it in a file beside the result.
//
//   counts.csv              grows; its first 1,842 bytes are final
//   .counts.csv.progress    {"inode":4711,"bytes":1842,"rows":73,"complete_until_ms":1600000000000}
//
// The progress file is there before the result, and goes when the run has succeeded: a result without one is a whole
// result. Later updates write the result first, then the progress file. A run that fails, is interrupted or loses a
// node cuts the result at `bytes`, and leaves the last progress file. Once the stream has ended the file says
// "ended":true in place of the time. Files are synced at the end of the run alone: after a crash of the host, bytes or
// the progress file itself may be missing.
//
// A result of several executors has a part and a progress file for each. As a whole it is complete up to the earliest
// time of its parts.
//
//   status = WriteProgress("counts.csv", inode, {.bytes = 1842, .rows = 73, .until_ms = 1'600'000'000'000});
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace glaive::engine {

struct Completeness {
  std::uint64_t bytes = 0;  ///< from the file's beginning, its header included
  std::uint64_t rows = 0;
  /// Of windows: all rows of those that end at this time or before are among them. Of a stream without windows: all
  /// rows of earlier event times, but for late records. kEndedMs once the stream has ended. None for rows without event
  /// times, and behind a union of results, where a stream that was idle may add results of the past.
  std::optional<std::int64_t> until_ms = std::nullopt;

  friend bool operator==(const Completeness&, const Completeness&) = default;
};

/// The name of the progress file of a result: "f/.counts.csv.progress" for "f/counts.csv".
std::string ProgressPath(const std::string& result);

/// Replaces the progress file as a whole. `inode` is the result's: a reader tells an earlier result from it. Errors are
/// FailedPrecondition, with the path and the reason. Does not wait for the disk.
absl::Status WriteProgress(const std::string& result, std::uint64_t inode, const Completeness& complete);
/// Removes the progress file if there is one.
absl::Status RemoveProgress(const std::string& result);

/// "counts.csv has 73 rows, complete until 2020-09-13T12:26:40.000Z".
std::string Describe(const std::string& result, const Completeness& complete);

}  // namespace glaive::engine
