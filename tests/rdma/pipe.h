// Pipe: a descriptor that becomes readable when a test says so, as an interrupt's does.
//
//   Pipe interrupt;
//   options.interrupt_fd = interrupt.read_fd();
//   interrupt.Write();
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rdma/base/unique_fd.h"

namespace glaive::rdma {

class Pipe {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end_ = UniqueFd(ends[0]);
    write_end_ = UniqueFd(ends[1]);
  }

  int read_fd() const { return read_end_.get(); }
  /// Makes it readable.
  void Write() { EXPECT_EQ(::write(write_end_.get(), "x", 1), 1); }

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;
};

}  // namespace glaive::rdma
