#include "engine/sink/result_part.h"

#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace glaive::engine {

std::string PartPath(const std::string& output, ExecutorId executor, std::uint32_t executor_count) {
  return absl::StrFormat("%s.part-%03u-of-%03u", output, Value(executor), executor_count);
}

void RemovePart(const ResultPart& part, std::uint32_t executor_count) {
  const std::string path = PartPath(part.output, ExecutorId{part.executor}, executor_count);
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode) && there.st_ino == part.inode &&
      static_cast<std::uint64_t>(there.st_size) == part.bytes) {
    unlink(path.c_str());
  }
}

}  // namespace glaive::engine
