#include "bench/common/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include <gtest/gtest.h>

namespace glaive::bench {
namespace {

// The grandchild has the only write end of a pipe, and does not end by itself. The pipe's end shows that it has ended.
TEST(ForkWithParent, TheChildEndsWithItsParent) {
  std::array<int, 2> alive{};
  std::array<int, 2> started{};
  ASSERT_EQ(pipe(alive.data()), 0);
  ASSERT_EQ(pipe(started.data()), 0);
  const pid_t child = ForkWithParent().value();
  char byte = 0;
  if (child == 0) {
    close(alive[0]);
    if (ForkWithParent().value() == 0) {
      (void)!write(started[1], &byte, 1);
      while (true) pause();
    }
    (void)!read(started[0], &byte, 1);
    _exit(0);
  }
  close(alive[1]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(read(alive[0], &byte, 1), 0);  // returns only when no process has the write end
  for (const int fd : {alive[0], started[0], started[1]}) close(fd);
}

}  // namespace
}  // namespace glaive::bench
