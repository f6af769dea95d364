#include "bench/channel/consumer_task.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/status/status.h"

#include "bench/common/fork.h"
#include "bench/common/or_die.h"

namespace glaive::bench {
namespace {

using rdma::TransportKind;

bool EndedWell(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

ConsumerHost::ConsumerHost(const rdma::DeviceChoice& device, Control* control) {
  std::array<int, 2> requests{};
  std::array<int, 2> results{};
  if (pipe(requests.data()) != 0 || pipe(results.data()) != 0) OrDie(absl::ErrnoToStatus(errno, "cannot make a pipe"));
  pid_ = OrDie(ForkWithParent());
  if (pid_ == 0) {
    close(requests[1]);
    close(results[0]);
    Serve(device, control, requests[0], results[1]);
  }
  close(requests[0]);
  close(results[1]);
  requests_ = UniqueFd(requests[1]);
  results_ = UniqueFd(results[0]);
}

ConsumerHost::~ConsumerHost() {
  requests_ = UniqueFd();
  waitpid(pid_, nullptr, 0);
}

void ConsumerHost::Serve(const rdma::DeviceChoice& device, Control* control, int requests, int results) {
  ChannelCase shape;
  while (read(requests, &shape, sizeof(shape)) == sizeof(shape)) {
    const pid_t pid = OrDie(ForkWithParent());
    if (pid == 0) {
      Consume({.shape = shape, .device = device, .control = control, .copy_ring = {}});
      _exit(0);
    }
    const char ended_well = EndedWell(pid) ? 1 : 0;
    if (write(results, &ended_well, 1) != 1) break;
  }
  _exit(0);
}

void ConsumerHost::Start(const ChannelCase& shape) const {
  if (write(requests_.get(), &shape, sizeof(shape)) != sizeof(shape)) {
    OrDie(absl::InternalError("the process that starts consumers is gone"));
  }
}

void ConsumerHost::Wait() const {
  char ended_well = 0;
  if (read(results_.get(), &ended_well, 1) != 1 || ended_well == 0) {
    OrDie(absl::InternalError("the consumer failed"));
  }
}

ConsumerTask::ConsumerTask(const ConsumerHost& host, const ChannelSetup& setup) : host_(host), kind_(setup.shape.kind) {
  if (kind_ == TransportKind::kVerbs) {
    host_.Start(setup.shape);
  } else if (kind_ == TransportKind::kLocal) {
    thread_ = std::thread([&setup] { Consume(setup); });
  } else {
    pid_ = OrDie(ForkWithParent());
    if (pid_ != 0) return;
    Consume(setup);
    _exit(0);
  }
}

ConsumerTask::~ConsumerTask() {
  if (kind_ == TransportKind::kVerbs) host_.Wait();
  if (thread_.joinable()) thread_.join();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace glaive::bench
