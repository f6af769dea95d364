// Launcher: starts the other nodes of a run on this host (`--nodes=N` without `--rank`) and sees to it that none of
// them outlives the run.
//
// Owned by `main` of rank 0. The kernel ties a child's life to the *thread* that started it: call Start from the main
// thread, before other threads exist, and keep that thread until the end.
//
// Calls exclude each other by a lock, so that KillAll may be called by any thread.
//
//   1. Every child that was started is waited for: by PollExited, by Shutdown or by the destructor.
//   2. A child whose parent dies is sent SIGTERM by the kernel, whatever the parent died of.
//
//   Launcher launcher(clock, absl::Seconds(5));
//   absl::Status started = launcher.Start(argc, argv, nodes, listener.address(), {{"GLAIVE_SECRET", secret.text()}});
//   ... options.watch = [&] { return launcher.PollExited(); };
//   absl::Status ended = launcher.Shutdown(absl::Seconds(5));
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "rdma/base/clock.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

/// How a node's process ended.
struct NodeExit {
  NodeId rank{0};
  pid_t pid = 0;
  int exit_code = 0;  ///< meaningful when signal is 0
  int signal = 0;     ///< the signal that killed it, or 0
};

/// "rank 2 (process 4711) was killed by SIGKILL", "rank 2 (process 4711) exited with code 1".
std::string DescribeExit(const NodeExit& exit);

class Launcher {
 public:
  /// Variables that a child has besides those of this process, or instead of them.
  using Environment = std::map<std::string, std::string>;

  /// A child that is stopped (SIGSTOP) for `stop_timeout` counts as lost. `clock` must outlive the launcher.
  Launcher(const Clock& clock, absl::Duration stop_timeout) : clock_(&clock), stop_timeout_(stop_timeout) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  /// Shutdown without grace.
  ~Launcher();

  /// Runs this program (`/proc/self/exe`) once for each rank 1 .. nodes-1, with the flags of `argv` and before them
  /// --rank and --coordinator. A child reads from /dev/null, writes its standard output to standard error, inherits
  /// no other descriptor, and starts with EndingSignals() unblocked. On an error those already started are
  /// ended.
  absl::Status Start(int argc, const char* const* argv, std::uint32_t nodes, const std::string& coordinator,
                     const Environment& environment);

  /// The same with a program and arguments of the caller's choice, for the one rank `rank`.
  absl::Status StartOne(NodeId rank, const std::string& program, const std::vector<std::string>& arguments,
                        const Environment& environment);

  /// kUnavailable names a child that has ended although nobody asked it to, or that has been stopped for too long; OK
  /// while all run. Never blocks. Reports the first such child every time.
  absl::Status PollExited();

  /// Waits up to `grace` for the children to end by themselves, then sends SIGTERM, half a second later SIGKILL, and
  /// collects all. One that is stopped cannot end by itself and gets SIGKILL at once. An error names the first child
  /// that did not end with exit code 0.
  absl::Status Shutdown(absl::Duration grace);

  /// Ends all children at once. For the last moment of a process: collects none.
  void KillAll();

  /// Children that have not been collected.
  std::size_t running() const;

 private:
  struct Child {
    NodeId rank{0};
    pid_t pid = 0;
    std::optional<NodeExit> exit = std::nullopt;
    std::optional<std::int64_t> stopped_ns = std::nullopt;  // since when it is stopped
  };

  void Reap();
  void Note(Child& child, int wait_status) const;
  bool ReapUntil(std::int64_t deadline_ns);
  void SignalAll(int signal);

  const Clock* clock_;
  absl::Duration stop_timeout_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Child> children_;
};

}  // namespace glaive::engine
