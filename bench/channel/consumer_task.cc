#include "bench/channel/consumer_task.h"

#include <sys/wait.h>
#include <unistd.h>

#include "bench/common/fork.h"
#include "bench/common/or_die.h"

namespace glaive::bench {

ConsumerTask::ConsumerTask(const CopySetup& setup) {
  if (setup.shape.kind == rdma::TransportKind::kLocal) {
    thread_ = std::thread([&setup] { Consume(setup); });
    return;
  }
  pid_ = OrDie(ForkWithParent());
  if (pid_ != 0) return;
  Consume(setup);
  _exit(0);
}

ConsumerTask::~ConsumerTask() {
  if (thread_.joinable()) thread_.join();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace glaive::bench
