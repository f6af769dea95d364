#include "tests/sim/batch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/sim/sim_files.h"

namespace glaive::sim {
namespace {

/// A simulation that takes longer hangs.
constexpr unsigned kSecondsASeed = 120;

/// What a worker says of a seed; the problem's text follows.
struct Report {
  std::uint64_t seed = 0;
  std::uint64_t problem_bytes = 0;
  Measures measures;
};

/// Ends the program: its main tells the message and the reason of errno.
[[noreturn]] void ThrowRefused(const char* message) {
  throw std::system_error(errno, std::generic_category(), message);
}

/// The ends of a pipe between this process and one that runs simulations.
std::array<int, 2> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) ThrowRefused("cannot make a pipe; raise ulimit -n, or take fewer --jobs");
  return ends;
}

pid_t Fork() {
  const pid_t pid = fork();
  if (pid < 0) ThrowRefused("cannot start a process; raise ulimit -u or the cgroup's pids.max, or take fewer --jobs");
  return pid;
}

void WriteAll(int fd, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(fd, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(9);  // nobody reads any more
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

bool ReadAll(int fd, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = read(fd, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

std::string HowItDied(int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? absl::StrCat("no end after ", kSecondsASeed, " s")
                                       : absl::StrCat("the process died of ", strsignal(WTERMSIG(status)));
  }
  return absl::StrCat("the process ended with ", WEXITSTATUS(status));
}

/// A process that runs every `stride`-th seed from `next` on, and reports each.
class Worker {
 public:
  Worker(std::uint64_t next, std::uint64_t stride, std::uint64_t end, std::span<const CatalogueEntry> catalogue)
      : next_(next), stride_(stride), end_(end), catalogue_(catalogue) {
    Start();
  }
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int fd() const { return fd_; }
  bool is_done() const { return fd_ < 0; }

  /// Takes one report; a worker that has died is replaced by one that goes on behind its seed.
  std::pair<std::uint64_t, Outcome> Take(bool& is_report) {
    Report report;
    is_report = true;
    if (ReadAll(fd_, &report, sizeof(report))) {
      std::string problem(report.problem_bytes, '\0');
      if (ReadAll(fd_, problem.data(), problem.size())) {
        next_ = report.seed + stride_;
        return {report.seed, Outcome{report.measures, std::move(problem)}};
      }
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    close(std::exchange(fd_, -1));
    SimFiles::RemoveThoseOf(std::exchange(pid_, -1));
    const std::uint64_t seed = next_;
    if (next_ >= end_) {
      is_report = false;
      return {seed, {}};
    }
    next_ += stride_;
    if (next_ < end_) Start();
    return {seed, Outcome{{}, HowItDied(status)}};
  }

  void Stop() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      SimFiles::RemoveThoseOf(std::exchange(pid_, -1));
    }
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  void Start() {
    const std::array<int, 2> ends = MakePipe();
    pid_ = Fork();
    if (pid_ == 0) {
      close(ends[0]);
      Work(ends[1]);
    }
    close(ends[1]);
    fd_ = ends[0];
  }

  [[noreturn]] void Work(int fd) const noexcept {  // an exception must not unwind into the batch's copy here
    for (std::uint64_t seed = next_; seed < end_; seed += stride_) {
      alarm(kSecondsASeed);
      const Outcome outcome = Simulate(DrawScenario(seed, catalogue_), catalogue_, nullptr);
      const Measures& measures = outcome;
      const Report report{.seed = seed, .problem_bytes = outcome.problem.size(), .measures = measures};
      WriteAll(fd, &report, sizeof(report));
      WriteAll(fd, outcome.problem.data(), outcome.problem.size());
    }
    _exit(0);
  }

  std::uint64_t next_;
  std::uint64_t stride_;
  std::uint64_t end_;
  std::span<const CatalogueEntry> catalogue_;
  pid_t pid_ = -1;
  int fd_ = -1;
};

}  // namespace

BatchResult RunBatch(const BatchOptions& options, std::span<const CatalogueEntry> catalogue, Coverage& coverage,
                     std::ostream& progress) {
  const std::uint64_t end = options.count == 0 ? ~std::uint64_t{0} : options.first + options.count;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint32_t i = 0; i < options.jobs && options.first + i < end; ++i) {
    workers.push_back(std::make_unique<Worker>(options.first + i, options.jobs, end, catalogue));
  }
  BatchResult result;
  while (!workers.empty() && result.failures.size() < options.most_failures) {
    std::vector<pollfd> ready;
    for (const auto& worker : workers) ready.push_back({.fd = worker->fd(), .events = POLLIN, .revents = 0});
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (ready[i].revents == 0) continue;
      bool is_report = false;
      auto [seed, outcome] = workers[i]->Take(is_report);
      if (!is_report) continue;
      ++result.done;
      coverage.Add(DrawScenario(seed, catalogue), outcome);
      if (!outcome.problem.empty()) result.failures.push_back({seed, outcome.problem});
      if (options.is_terminal && result.done % 20 == 0) {
        progress << "\r" << result.done << " of " << options.count << " simulations, " << result.failures.size()
                 << " failed" << std::flush;
      }
    }
    std::erase_if(workers, [](const auto& worker) { return worker->is_done(); });
  }
  if (options.is_terminal) progress << "\r\033[K" << std::flush;
  return result;
}

std::string RunApart(const Scenario& scenario, std::span<const CatalogueEntry> catalogue) {
  const std::array<int, 2> ends = MakePipe();
  const pid_t pid = Fork();
  if (pid == 0) {
    close(ends[0]);
    close(STDERR_FILENO);  // a failed check's words: the same each time
    alarm(kSecondsASeed);
    const std::string problem = Simulate(scenario, catalogue, nullptr).problem;
    WriteAll(ends[1], problem.data(), problem.size());
    _exit(0);
  }
  close(ends[1]);
  std::string problem;
  for (char c = 0; ReadAll(ends[0], &c, 1);) problem.push_back(c);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  SimFiles::RemoveThoseOf(pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? problem : HowItDied(status);
}

}  // namespace glaive::sim
