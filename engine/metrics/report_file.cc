#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/metrics/run_report.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

absl::Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, "write");
    }
  }
  return absl::OkStatus();
}

absl::Status WriteNew(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, "open");
  }
  return WriteAll(fd.get(), text);
}

}  // namespace

absl::Status WriteJsonFile(const RunReport& report, const std::string& path) {
  const std::string temporary = absl::StrCat(path, ".tmp");
  absl::Status status = WriteNew(temporary, ToJsonLine(report));
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = absl::ErrnoToStatus(errno, "rename");
  }
  if (!status.ok()) {
    (void)::unlink(temporary.c_str());
    return absl::Status(status.code(), absl::StrCat("cannot write --json=", path, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
