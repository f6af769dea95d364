// The consumer of a case: a thread, or a process that dies with this one.
//
// Verbs and fork don't go together: a process that has opened a device must not hand its memory to a child. So the
// processes are made by a helper that is forked once, before any device is opened, and opens none itself.
//
//   ConsumerHost host(device, control);            // first thing in main
//   const ConsumerTask consumer(host, setup);      // per case
#pragma once

#include <sys/types.h>

#include <optional>
#include <thread>

#include "bench/channel/channel_case.h"
#include "rdma/base/unique_fd.h"

namespace glaive::bench {

/// See the head of this file. Its processes share nothing with this one but `control`.
class ConsumerHost {
 public:
  ConsumerHost(const rdma::DeviceChoice& device, Control* control);
  ConsumerHost(const ConsumerHost&) = delete;
  ConsumerHost& operator=(const ConsumerHost&) = delete;
  ~ConsumerHost();

  /// Starts a consumer over verbs.
  void Start(const ChannelCase& shape) const;
  /// Waits for the end of the last one started; the benchmark ends if that failed.
  void Wait() const;

 private:
  [[noreturn]] static void Serve(const rdma::DeviceChoice& device, Control* control, int requests, int results);

  UniqueFd requests_;
  UniqueFd results_;
  pid_t pid_ = 0;
};

/// See the head of this file. Ends when the producer says so.
class ConsumerTask {
 public:
  ConsumerTask(const ConsumerHost& host, const ChannelSetup& setup);
  ConsumerTask(const ConsumerTask&) = delete;
  ConsumerTask& operator=(const ConsumerTask&) = delete;
  ~ConsumerTask();

 private:
  const ConsumerHost& host_;
  rdma::TransportKind kind_;
  std::thread thread_;  // local
  pid_t pid_ = 0;       // shm
};

}  // namespace glaive::bench
