// The consumer of a case over shm or local: a process that dies with this one, or a thread.
//
//   const ConsumerTask consumer(setup);      // per case
#pragma once

#include <sys/types.h>

#include <thread>

#include "bench/channel/copy_case.h"

namespace glaive::bench {

/// See the head of this file. Ends when the producer says so.
class ConsumerTask {
 public:
  explicit ConsumerTask(const CopySetup& setup);
  ConsumerTask(const ConsumerTask&) = delete;
  ConsumerTask& operator=(const ConsumerTask&) = delete;
  ~ConsumerTask();

 private:
  std::thread thread_;  // local
  pid_t pid_ = 0;       // shm
};

}  // namespace glaive::bench
