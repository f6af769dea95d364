// FullDisk: a disk without room, for the files that a test writes.
//
//   const FullDisk full_disk(8);
//   EXPECT_FALSE(WriteTenBytes().ok());
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "rdma/base/check.h"

namespace glaive::engine {

/// While it lives, this process cannot write to files beyond their first `bytes`. SIGXFSZ stays ignored: the failed
/// call has the error.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes = 0) {
    GLAIVE_CHECK(std::signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "SIGXFSZ cannot be ignored");
    GLAIVE_CHECK(getrlimit(RLIMIT_FSIZE, &before_) == 0, "the limit of files' sizes cannot be read");
    SetLimit({.rlim_cur = bytes, .rlim_max = before_.rlim_max});
  }
  ~FullDisk() { SetLimit(before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  static void SetLimit(const rlimit& limit) {
    GLAIVE_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "files cannot be limited to ", limit.rlim_cur, " bytes");
  }

  rlimit before_{};
};

}  // namespace glaive::engine
