#include "engine/sink/result_part.h"

#include <unistd.h>

#include "absl/strings/str_format.h"

namespace glaive::engine {

std::string PartPath(const std::string& output, ExecutorId executor, std::uint32_t executor_count) {
  return absl::StrFormat("%s.part-%03u-of-%03u", output, Value(executor), executor_count);
}

bool IsPart(const ResultPart& part, const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_ino == part.inode && static_cast<std::uint64_t>(file.st_size) == part.bytes;
}

void RemovePart(const ResultPart& part, std::uint32_t executor_count) {
  const std::string path = PartPath(part.output, ExecutorId{part.executor}, executor_count);
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && IsPart(part, there)) {
    unlink(path.c_str());
  }
}

}  // namespace glaive::engine
