// ResultPart: one leader's part of a result, in the words that tell other nodes of it before any part has its name.
//
//   RemovePart(part, path);  // takes it back
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "rdma/base/ids.h"

namespace glaive::engine {

struct ResultPart {
  std::string output;          ///< the result's name, as its sink was given it
  std::string inside = {};     ///< of a result that is a folder, the path in it, without the part's number; else empty
  std::uint32_t executor = 0;  ///< the leader
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;         ///< of the file, its header included
  std::uint64_t header_bytes = 0;  ///< at its beginning, the same in all parts
  std::uint64_t inode = 0;         ///< with `bytes`: tells the part from another file under its name

  friend bool operator==(const ResultPart&, const ResultPart&) = default;
};

/// The prefix of the names of all parts of `output`: "o.csv.part-".
std::string PartPrefix(const std::string& output);

/// The name of an executor's part of `output`: "o.csv.part-002-of-004"; of a run with one executor "o.csv".
std::string PartPath(const std::string& output, ExecutorId executor, std::uint32_t executor_count);

/// The executor count in the name of a part of `output`: 4 for "o.csv.part-002-of-004". 0 for any other name.
std::uint32_t ExecutorCountOf(std::string_view part, const std::string& output);

/// The part's name, in a run of so many executors.
std::string PathOf(const ResultPart& part, std::uint32_t executor_count);

/// Whether a path leads into the folder that it is relative to: names with slashes between, and no "..".
bool LeadsInside(std::string_view path);

/// Whether a file is the part.
bool IsPart(const ResultPart& part, const struct stat& file);

/// Removes the part if it is what lies at `path`, its name, and folders inside its output that are empty then. Takes no
/// memory.
void RemovePart(const ResultPart& part, const std::string& path);

}  // namespace glaive::engine
