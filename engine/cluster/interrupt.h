// Interrupt: turns the signals that ask the process to end (rdma/base/ending_signals.h) into a readable file
// descriptor, so that Ctrl-C is one more thing a fiber or a poll(2) waits for, not something that happens in the middle
// of anything.
//
// Made once, at the start of `main`, before any thread: threads inherit the blocked signals. After that any thread may
// call any method. Costs one system call a Poll.
//
//   absl::StatusOr<Interrupt> interrupt = Interrupt::Create();
//   ... if (interrupt->Poll()) return absl::CancelledError(interrupt->Describe());
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"

namespace glaive::engine {

class Interrupt {
 public:
  /// Blocks the signals for the calling thread and opens a signalfd for them; not SIGHUP where it is ignored, as nohup
  /// has it.
  static absl::StatusOr<Interrupt> Create();

  Interrupt(Interrupt&& other) noexcept = default;
  Interrupt& operator=(Interrupt&&) = delete;
  /// Takes back what is pending and restores the calling thread's signal mask.
  ~Interrupt();

  /// The signal that asked to stop, if one has come; the same from then on. Never blocks.
  std::optional<int> Poll();

  /// Readable from the first signal on: for poll(2) and BootstrapOptions::interrupt_fd. The signal also stays
  /// pending, so sigpending(2) shows it.
  int fd() const { return fd_.get(); }

  /// Whether the signal came from the process that started this one, and that has ended: then the kernel has sent it to
  /// a launcher's child. The parent may be about to end: waits up to 200 ms.
  bool ParentGone() const;
  /// The process that started this one, when this was made.
  pid_t parent() const { return parent_; }

  /// "interrupted by SIGINT", and by which process if one sent it; only after Poll has returned a signal.
  std::string Describe() const;

 private:
  struct Taken {
    std::mutex mutex;  // guards what follows
    std::optional<int> signal;
    pid_t sender = 0;  // the process that sent it, if one did
  };

  Interrupt(UniqueFd fd, const sigset_t& previous, pid_t parent)
      : fd_(std::move(fd)), previous_(previous), parent_(parent), taken_(std::make_unique<Taken>()) {}

  pid_t Sender() const;

  UniqueFd fd_;
  sigset_t previous_;
  pid_t parent_;
  std::unique_ptr<Taken> taken_;
};

}  // namespace glaive::engine
