#include "engine/cluster/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <map>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

bool Readable(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

bool IsBlocked(int signal) {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

bool IsPending(int signal) {
  sigset_t pending;
  ::sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

TEST(Interrupt, IsQuietUntilASignalComes) {
  auto interrupt = Interrupt::Create();
  ASSERT_TRUE(interrupt.ok()) << interrupt.status();
  EXPECT_EQ(interrupt->Poll(), std::nullopt);
  EXPECT_FALSE(Readable(interrupt->fd()));
}

TEST(Interrupt, ASignalMakesItReadableForAllThreadsAndIsRemembered) {
  ASSERT_NE(::signal(SIGHUP, SIG_DFL), SIG_ERR);
  for (const auto& [signal, description] : std::map<int, std::string>{
           {SIGINT, "interrupted by SIGINT"},
           {SIGTERM, "interrupted by SIGTERM"},
           {SIGHUP, "interrupted by SIGHUP"},
           {SIGXCPU, "interrupted by SIGXCPU: no more processor time is allowed; raise ulimit -t"}}) {
    auto interrupt = Interrupt::Create();
    ASSERT_TRUE(interrupt.ok()) << interrupt.status();
    ASSERT_EQ(::raise(signal), 0);
    EXPECT_TRUE(Readable(interrupt->fd()));
    EXPECT_EQ(interrupt->Poll(), signal);
    EXPECT_TRUE(std::async(std::launch::async, [&] { return Readable(interrupt->fd()); }).get());
    EXPECT_TRUE(std::async(std::launch::async, [&, number = signal] { return IsPending(number); }).get());
    EXPECT_EQ(interrupt->Poll(), signal);
    EXPECT_EQ(interrupt->Describe(), description);
  }
}

TEST(Interrupt, AHangupThatIsIgnoredStaysSo) {  // as nohup starts a program
  ASSERT_NE(::signal(SIGHUP, SIG_IGN), SIG_ERR);
  auto interrupt = Interrupt::Create();
  ASSERT_TRUE(interrupt.ok()) << interrupt.status();
  ASSERT_EQ(::raise(SIGHUP), 0);
  EXPECT_EQ(interrupt->Poll(), std::nullopt);
  ASSERT_NE(::signal(SIGHUP, SIG_DFL), SIG_ERR);
}

TEST(Interrupt, NamesTheProcessThatSentTheSignal) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto interrupt = Interrupt::Create();
    ::raise(SIGSTOP);  // until the signal is there
    const bool right =
        interrupt.ok() && interrupt->Poll() == SIGTERM &&
        interrupt->Describe() == "interrupted by SIGTERM from its parent, process " + std::to_string(::getppid());
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  ASSERT_EQ(::kill(child, SIGCONT), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, TheSignalMaskIsRestoredAndPendingSignalsAreTakenBack) {
  ASSERT_FALSE(IsBlocked(SIGINT));
  {
    auto interrupt = Interrupt::Create();
    ASSERT_TRUE(interrupt.ok()) << interrupt.status();
    EXPECT_TRUE(IsBlocked(SIGINT));
    EXPECT_TRUE(IsBlocked(SIGTERM));
    ASSERT_EQ(::raise(SIGINT), 0);
    ASSERT_EQ(::raise(SIGTERM), 0);
  }
  EXPECT_FALSE(IsBlocked(SIGINT));
  EXPECT_FALSE(IsBlocked(SIGTERM));
}

}  // namespace
}  // namespace glaive::engine
