// Meeting: has the two threads of a run share an object, and those of the next run another one.
//
//   auto exchange = meeting.Join([] { return std::make_shared<ThreadExchange<TaskEvent>>(); });   // in each thread
#pragma once

#include <cstdint>
#include <mutex>

namespace glaive::bench {

/// `Shared` is what a function makes: a pointer, or a StatusOr of one.
template <typename Shared>
class Meeting {
 public:
  static constexpr std::uint32_t kThreads = 2;

  /// What `make()` has returned to the first thread of the run.
  template <typename Make>
  Shared Join(const Make& make) {
    const std::lock_guard lock(mutex_);
    if (joined_++ % kThreads == 0) {
      shared_ = make();
    }
    return shared_;
  }

 private:
  std::mutex mutex_;
  std::uint64_t joined_ = 0;
  Shared shared_;
};

}  // namespace glaive::bench
