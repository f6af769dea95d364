#include "engine/cluster/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/base/ending_signals.h"
#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

constexpr int kParentPolls = 40;
constexpr std::chrono::milliseconds kParentPollInterval(5);

}  // namespace

absl::StatusOr<Interrupt> Interrupt::Create() {
  sigset_t signals = EndingSignals();
  struct sigaction hangup{};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN) {
    sigdelset(&signals, SIGHUP);
  }
  UniqueFd fd(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot watch for signals: signalfd: ", ErrorText(errno)));
  }
  sigset_t previous;
  const int error = ::pthread_sigmask(SIG_BLOCK, &signals, &previous);
  GLAIVE_CHECK(error == 0, "pthread_sigmask: ", ::strerrordesc_np(error));
  return Interrupt(std::move(fd), previous, ::getppid());
}

Interrupt::~Interrupt() {
  if (!fd_.valid()) return;  // moved from
  // A signal that is still pending would end the process as soon as it is let through.
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
  }
  (void)::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

std::optional<int> Interrupt::Poll() {
  const std::lock_guard lock(taken_->mutex);
  signalfd_siginfo info{};
  if (!taken_->signal.has_value() && ::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    taken_->signal = static_cast<int>(info.ssi_signo);
    if (info.ssi_code == SI_USER) taken_->sender = static_cast<pid_t>(info.ssi_pid);
    // To the process, not to this thread, which raise(3) would do: every thread has to see that it is pending.
    (void)::kill(::getpid(), *taken_->signal);
  }
  return taken_->signal;
}

pid_t Interrupt::Sender() const {
  const std::lock_guard lock(taken_->mutex);
  return taken_->sender;
}

bool Interrupt::ParentGone() const {
  const bool is_from_parent = Sender() == parent_;
  for (int i = 0; i < kParentPolls && is_from_parent && ::getppid() == parent_; ++i) {
    std::this_thread::sleep_for(kParentPollInterval);
  }
  return is_from_parent && ::getppid() != parent_;
}

std::string Interrupt::Describe() const {
  const std::lock_guard lock(taken_->mutex);
  GLAIVE_CHECK(taken_->signal.has_value(), "no signal has come");
  if (*taken_->signal == SIGXCPU) return "interrupted by SIGXCPU: no more processor time is allowed; raise ulimit -t";
  const std::string name = absl::StrCat("SIG", ::sigabbrev_np(*taken_->signal));
  const pid_t sender = taken_->sender;
  if (sender == 0 || sender == ::getpid()) return absl::StrCat("interrupted by ", name);
  // Also what the kernel sends when the process that started this one dies.
  return absl::StrCat("interrupted by ", name, sender == parent_ ? " from its parent, process " : " from process ",
                      sender);
}

}  // namespace glaive::engine
