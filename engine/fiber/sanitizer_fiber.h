// SanitizerFiber: tells AddressSanitizer and ThreadSanitizer which stack the thread runs on. Empty in other builds.
//
// One per fiber, owned by its Context. The scheduler's side calls BeforeEntering right before it switches to the
// fiber and AfterLeaving right after control is back; the fiber's side calls AfterEntering first thing on its stack
// and BeforeLeaving last. A fiber always goes back to the stack it was entered from. After the fiber's last switch the
// scheduler's side calls Retire.
//
//   sanitizer.BeforeEntering();  fiber = std::move(fiber).resume();  sanitizer.AfterLeaving();
#pragma once

#include <cstddef>

#include "rdma/base/sanitizers.h"

#if defined(GLAIVE_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(GLAIVE_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace glaive::engine {

#if defined(GLAIVE_ADDRESS_SANITIZER)

/// See the head of this file.
class SanitizerFiber {
 public:
  SanitizerFiber(const void* stack_bottom, std::size_t stack_bytes) : bottom_(stack_bottom), bytes_(stack_bytes) {}

  void BeforeEntering() { __sanitizer_start_switch_fiber(&outer_fake_stack_, bottom_, bytes_); }
  void AfterEntering() { __sanitizer_finish_switch_fiber(fake_stack_, &outer_bottom_, &outer_bytes_); }
  void BeforeLeaving() { __sanitizer_start_switch_fiber(&fake_stack_, outer_bottom_, outer_bytes_); }
  void AfterLeaving() { __sanitizer_finish_switch_fiber(outer_fake_stack_, nullptr, nullptr); }

  // Only a fiber that leaves for good may drop its fake stack, but the frames of Boost that end a fiber are still to
  // return then. So the sanitizer is told of one more visit, from which the fiber does not come back. Some of those
  // frames never return, hence the unpoisoning.
  void Retire() {
    BeforeEntering();
    AfterEntering();
    __sanitizer_start_switch_fiber(nullptr, outer_bottom_, outer_bytes_);
    AfterLeaving();
    __asan_unpoison_memory_region(bottom_, bytes_);
  }

 private:
  const void* bottom_;
  std::size_t bytes_;
  void* fake_stack_ = nullptr;        // the fiber's, while it is suspended
  void* outer_fake_stack_ = nullptr;  // the scheduler's, while the fiber runs
  const void* outer_bottom_ = nullptr;
  std::size_t outer_bytes_ = 0;
};

#elif defined(GLAIVE_THREAD_SANITIZER)

/// See the head of this file. All switches are announced from the scheduler's side: ThreadSanitizer keeps a shadow of
/// the call stack, and this way each function that switches is entered and left in the same shadow. The two
/// functions that switch are inlined for the same reason: otherwise they would be entered in one shadow and left in
/// another.
class SanitizerFiber {
 public:
  SanitizerFiber(const void* /*stack_bottom*/, std::size_t /*stack_bytes*/) : fiber_(__tsan_create_fiber(0)) {}
  SanitizerFiber(const SanitizerFiber&) = delete;
  SanitizerFiber& operator=(const SanitizerFiber&) = delete;
  ~SanitizerFiber() { __tsan_destroy_fiber(fiber_); }

  [[gnu::always_inline]] void BeforeEntering() {
    outer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_, 0);
  }
  void AfterEntering() {}
  void BeforeLeaving() {}
  [[gnu::always_inline]] void AfterLeaving() { __tsan_switch_to_fiber(outer_, 0); }
  void Retire() {}

 private:
  void* fiber_;
  void* outer_ = nullptr;
};

#else

/// See the head of this file.
class SanitizerFiber {
 public:
  SanitizerFiber(const void* /*stack_bottom*/, std::size_t /*stack_bytes*/) {}

  void BeforeEntering() {}
  void AfterEntering() {}
  void BeforeLeaving() {}
  void AfterLeaving() {}
  void Retire() {}
};

#endif

}  // namespace glaive::engine
