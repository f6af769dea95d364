#include "rdma/verbs/locked_memory.h"

#include <sys/resource.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"

namespace glaive::rdma {

std::string LockedMemoryHint(int error) {
  if (error != ENOMEM && error != EPERM) return "";  // EPERM: nothing may be locked at all
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return absl::StrCat("; this process may lock ", FormatBytes(limit.rlim_cur),
                      " in memory: raise that (ulimit -l unlimited, or LimitMEMLOCK= and limits.conf's memlock), or "
                      "lower --credits, --slot-bytes or --executors");
}

}  // namespace glaive::rdma
