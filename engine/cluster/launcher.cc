#include "engine/cluster/launcher.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/base/ending_signals.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

constexpr absl::Duration kTermGrace = absl::Milliseconds(500);
constexpr std::int64_t kReapIntervalNanos = 5'000'000;
constexpr int kExecFailed = 127;

// What a child does before it is the program, and with which error it failed.
enum class Step : int { kSignals, kNullDevice, kDescriptors, kProgram };
struct StartFailure {
  Step step;
  int error;
};

std::string Describe(const StartFailure& failure, const std::string& program) {
  const std::string error = ErrorText(failure.error);
  switch (failure.step) {
    case Step::kSignals:
      return absl::StrCat("setting up its signals: ", error);
    case Step::kNullDevice:
      return absl::StrCat("opening /dev/null, its standard input: ",
                          ErrorText(failure.error, "mount a /dev, or create it with mknod -m 666 /dev/null c 1 3"));
    case Step::kDescriptors:
      return absl::StrCat("setting up its descriptors: ", error);
    case Step::kProgram:
      break;
  }
  return absl::StrCat(program, ": ", error);
}

// The child between fork and exec: async-signal-safe calls only, since the parent may have threads. Writes a
// StartFailure to `error_fd` and exits when the program cannot be started.
[[noreturn]] void BecomeProgram(pid_t parent, const char* program, char* const* arguments, char* const* environment,
                                int error_fd) {
  const auto give_up = [error_fd](Step step) {
    const StartFailure failure{.step = step, .error = errno};
    (void)!::write(error_fd, &failure, sizeof(failure));
    ::_exit(kExecFailed);
  };
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) give_up(Step::kSignals);
  if (::getppid() != parent) ::_exit(kExecFailed);  // the parent died before prctl
  const sigset_t signals = EndingSignals();
  if (::sigprocmask(SIG_UNBLOCK, &signals, nullptr) != 0) give_up(Step::kSignals);
  const int null_fd = ::open("/dev/null", O_RDONLY);
  if (null_fd < 0) give_up(Step::kNullDevice);
  if (::dup2(null_fd, STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
      ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC) != 0) {
    give_up(Step::kDescriptors);
  }
  ::execve(program, arguments, environment);
  give_up(Step::kProgram);
  ::_exit(kExecFailed);
}

// "NAME=value" of this process's variables, changed by `changes`.
std::vector<std::string> MergeEnvironment(const Launcher::Environment& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(absl::StrCat(name, "=", value));
  return merged;
}

// As exec takes it; `texts` must outlive the result.
std::vector<char*> RawPointers(const std::vector<std::string>& texts) {
  std::vector<char*> raw;
  raw.reserve(texts.size() + 1);
  for (const std::string& text : texts) raw.push_back(const_cast<char*>(text.c_str()));
  raw.push_back(nullptr);
  return raw;
}

NodeExit ToExit(NodeId rank, pid_t pid, int wait_status) {
  NodeExit exit{.rank = rank, .pid = pid};
  if (WIFSIGNALED(wait_status)) {
    exit.signal = WTERMSIG(wait_status);
  } else {
    exit.exit_code = WEXITSTATUS(wait_status);
  }
  return exit;
}

}  // namespace

std::string DescribeExit(const NodeExit& exit) {
  const std::string who = absl::StrCat("rank ", Value(exit.rank), " (process ", exit.pid, ")");
  if (exit.signal == 0) return absl::StrCat(who, " exited with code ", exit.exit_code);
  const char* name = ::sigabbrev_np(exit.signal);
  if (name == nullptr) return absl::StrCat(who, " was killed by signal ", exit.signal);
  return absl::StrCat(who, " was killed by SIG", name);
}

Launcher::~Launcher() { (void)Shutdown(absl::ZeroDuration()); }

absl::Status Launcher::Start(int argc, const char* const* argv, std::uint32_t nodes, const std::string& coordinator,
                             const Environment& environment) {
  for (std::uint32_t rank = 1; rank < nodes; ++rank) {
    std::vector<std::string> arguments = {argv[0], absl::StrCat("--rank=", rank),
                                          absl::StrCat("--coordinator=", coordinator)};
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    if (absl::Status status = StartOne(NodeId{rank}, "/proc/self/exe", arguments, environment); !status.ok()) {
      (void)Shutdown(absl::ZeroDuration());
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Launcher::StartOne(NodeId rank, const std::string& program, const std::vector<std::string>& arguments,
                                const Environment& environment) {
  const auto failed = [rank](const std::string& why) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start rank ", Value(rank), ": ", why));
  };
  const std::vector<char*> raw_arguments = RawPointers(arguments);
  const std::vector<std::string> variables = MergeEnvironment(environment);
  const std::vector<char*> raw_variables = RawPointers(variables);

  // Whoever started this process may have set SIGCHLD to be ignored; then there would be nothing to wait for.
  (void)::signal(SIGCHLD, SIG_DFL);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(absl::StrCat("pipe: ", ErrorText(errno)));
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return failed(absl::StrCat("fork: ", ::strerrordesc_np(errno), "; raise ulimit -u or the cgroup's pids.max"));
  }
  if (pid == 0) BecomeProgram(parent, program.c_str(), raw_arguments.data(), raw_variables.data(), write_end.get());
  write_end.Reset();

  // The pipe closes when exec succeeds, and carries the failure when it does not.
  StartFailure failure{};
  ssize_t got = 0;
  do {
    got = ::read(read_end.get(), &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(failure))) {
    (void)::waitpid(pid, nullptr, 0);
    return failed(Describe(failure, program));
  }
  const std::lock_guard lock(mutex_);
  children_.push_back({.rank = rank, .pid = pid});
  return absl::OkStatus();
}

absl::Status Launcher::PollExited() {
  const std::lock_guard lock(mutex_);
  Reap();
  const std::int64_t stopped_before_ns = clock_->NowNanos() - absl::ToInt64Nanoseconds(stop_timeout_);
  for (const Child& child : children_) {
    if (child.exit.has_value()) return absl::UnavailableError(DescribeExit(*child.exit));
    if (child.stopped_ns.has_value() && *child.stopped_ns <= stopped_before_ns) {
      return absl::UnavailableError(absl::StrCat("rank ", Value(child.rank), " (process ", child.pid,
                                                 ") has been stopped by a signal for ",
                                                 absl::FormatDuration(stop_timeout_), " (--peer-timeout)"));
    }
  }
  return absl::OkStatus();
}

absl::Status Launcher::Shutdown(absl::Duration grace) {
  const auto in = [this](absl::Duration duration) {
    return clock_->NowNanos() + absl::ToInt64Nanoseconds(std::min(duration, absl::Hours(24)));
  };
  if (!ReapUntil(in(grace))) {
    SignalAll(SIGTERM);
    if (!ReapUntil(in(kTermGrace))) {
      SignalAll(SIGKILL);
      const std::lock_guard lock(mutex_);
      for (Child& child : children_) {
        int wait_status = 0;
        if (!child.exit.has_value() && ::waitpid(child.pid, &wait_status, 0) == child.pid) {
          child.exit = ToExit(child.rank, child.pid, wait_status);
        }
      }
    }
  }
  const std::lock_guard lock(mutex_);
  for (const Child& child : children_) {
    if (child.exit.has_value() && (child.exit->signal != 0 || child.exit->exit_code != 0)) {
      return absl::UnavailableError(DescribeExit(*child.exit));
    }
  }
  return absl::OkStatus();
}

std::size_t Launcher::running() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(children_.begin(), children_.end(), [](const Child& child) { return !child.exit.has_value(); }));
}

void Launcher::Reap() {
  for (Child& child : children_) {
    int wait_status = 0;
    while (!child.exit.has_value() &&
           ::waitpid(child.pid, &wait_status, WNOHANG | WUNTRACED | WCONTINUED) == child.pid) {
      Note(child, wait_status);
    }
  }
}

void Launcher::Note(Child& child, int wait_status) const {
  if (WIFSTOPPED(wait_status)) {
    child.stopped_ns = clock_->NowNanos();
  } else if (WIFCONTINUED(wait_status)) {
    child.stopped_ns.reset();
  } else {
    child.exit = ToExit(child.rank, child.pid, wait_status);
  }
}

// Whether all children have ended by the deadline.
bool Launcher::ReapUntil(std::int64_t deadline_ns) {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      Reap();
      for (const Child& child : children_) {
        if (!child.exit.has_value() && child.stopped_ns.has_value()) (void)::kill(child.pid, SIGKILL);
      }
    }
    if (running() == 0) return true;
    if (clock_->NowNanos() >= deadline_ns) return false;
    const timespec pause{.tv_sec = 0, .tv_nsec = kReapIntervalNanos};
    (void)::nanosleep(&pause, nullptr);
  }
}

void Launcher::KillAll() { SignalAll(SIGKILL); }

void Launcher::SignalAll(int signal) {
  const std::lock_guard lock(mutex_);
  for (const Child& child : children_) {
    if (!child.exit.has_value()) (void)::kill(child.pid, signal);
  }
}

}  // namespace glaive::engine
