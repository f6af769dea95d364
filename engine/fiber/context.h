// Context: one Boost.Context fiber on one Stack, with the sanitizers told of every switch.
//
// The only file that includes Boost. Owned by a Fiber, used by its scheduler's thread; never moved.
//
//   Context context(std::move(stack), [] { ... context.Suspend(); ... });
//   while (context.Resume()) { ... }
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <boost/context/detail/exception.hpp>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>

#include "engine/fiber/sanitizer_fiber.h"
#include "engine/fiber/stack.h"

namespace glaive::engine {

/// Thrown by Suspend when the fiber is unwound. Whoever catches it must rethrow it.
using ForcedUnwind = boost::context::detail::forced_unwind;

/// See the head of this file.
class Context {
 public:
  /// Runs `entry()` on `stack`, from the first Resume on. `entry` must let ForcedUnwind pass and nothing else.
  /// `top_offset` bytes at the top of the stack stay unused.
  template <typename Entry>
  Context(Stack stack, std::size_t top_offset, Entry entry)
      : stack_(std::move(stack)), sanitizer_(stack_.bottom(), stack_.size_bytes()) {
    boost::context::stack_context memory;
    memory.sp = stack_.top() - top_offset;
    memory.size = stack_.size_bytes() - top_offset;
    // Boost enters the new stack once, to leave the entry function there.
    sanitizer_.BeforeEntering();
    fiber_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(memory.sp, memory.size, memory),
                                   BorrowedStack{}, [this, entry = std::move(entry)](boost::context::fiber&& outer) {
                                     sanitizer_.AfterEntering();
                                     const Departure departure{sanitizer_};
                                     outer_ = std::move(outer);
                                     entry();
                                     return std::move(outer_);
                                   });
    sanitizer_.AfterEntering();
    sanitizer_.BeforeLeaving();
    sanitizer_.AfterLeaving();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// The entry function must have returned, or Unwind must have been called.
  ~Context() = default;

  /// Scheduler's side: runs the fiber until it suspends (true) or its entry function has returned (false).
  [[gnu::always_inline]] bool Resume() {
    sanitizer_.BeforeEntering();
    fiber_ = std::move(fiber_).resume();
    sanitizer_.AfterLeaving();
    if (fiber_) [[likely]] {
      return true;
    }
    sanitizer_.Retire();
    return false;
  }

  /// Fiber's side: back to the scheduler. Returns with the next Resume, or throws ForcedUnwind.
  [[gnu::always_inline]] void Suspend() {
    const Arrival arrival{sanitizer_};
    sanitizer_.BeforeLeaving();
    outer_ = std::move(outer_).resume();
  }

  /// Scheduler's side, while the fiber is suspended in Suspend: makes that throw ForcedUnwind and returns when the
  /// entry function has been unwound.
  void Unwind() {
    sanitizer_.BeforeEntering();
    fiber_ = boost::context::fiber();
    sanitizer_.AfterLeaving();
    sanitizer_.Retire();
  }

  /// The memory, for another context, once the entry function has returned or was unwound.
  Stack TakeStack() { return std::move(stack_); }

 private:
  // Boost gives the stack back through this when the fiber ends; it stays ours.
  struct BorrowedStack {
    boost::context::stack_context allocate() const { return {}; }
    void deallocate(boost::context::stack_context&) const noexcept {}
  };

  // Announce a switch also when an exception is on its way.
  struct Arrival {
    SanitizerFiber& sanitizer;
    ~Arrival() { sanitizer.AfterEntering(); }
  };
  struct Departure {
    SanitizerFiber& sanitizer;
    ~Departure() { sanitizer.BeforeLeaving(); }
  };

  Stack stack_;
  SanitizerFiber sanitizer_;
  boost::context::fiber fiber_;  // the suspended fiber, while the scheduler runs
  boost::context::fiber outer_;  // the suspended scheduler, while the fiber runs
};

}  // namespace glaive::engine
