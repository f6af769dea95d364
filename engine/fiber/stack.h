// Stack: the memory one fiber runs on, with a guard page below it.
//
// Owned by a StackPool, and through it by one Scheduler; moves between threads are the owner's business.
//
//   low address  | guard page (PROT_NONE) | usable bytes, grows downwards | high address = top()
//
// An overflow runs into the guard page and ends the process with a segmentation fault, instead of
// overwriting whatever lies below. Costs: one mapping a stack; only touched pages take memory.
//
//   absl::StatusOr<Stack> stack = Stack::Map(64 * 1024);
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

namespace glaive::engine {

/// Move-only; unmaps its memory.
class Stack {
 public:
  /// Maps `size_bytes` (rounded up to whole pages, at least 16 KiB) and a guard page below them.
  /// ResourceExhausted if the system refuses; the message says which limit to look at.
  static absl::StatusOr<Stack> Map(std::size_t size_bytes);

  Stack(Stack&& other) noexcept;
  Stack& operator=(Stack&& other) noexcept;
  ~Stack();

  /// One past the highest usable byte; page-aligned.
  std::byte* top() const { return mapping_ + mapping_bytes_; }
  /// The lowest usable byte; the guard page ends here.
  std::byte* bottom() const { return mapping_ + guard_bytes_; }
  /// top() - bottom().
  std::size_t size_bytes() const { return mapping_bytes_ - guard_bytes_; }

 private:
  Stack(std::byte* mapping, std::size_t mapping_bytes, std::size_t guard_bytes)
      : mapping_(mapping), mapping_bytes_(mapping_bytes), guard_bytes_(guard_bytes) {}

  std::byte* mapping_ = nullptr;  // null after a move
  std::size_t mapping_bytes_ = 0;
  std::size_t guard_bytes_ = 0;
};

/// Stacks of one size. A returned stack is handed out again before a new one is mapped, and none is unmapped
/// before the pool ends. Single-threaded.
class StackPool {
 public:
  /// `stack_bytes` is what a stack holds in a plain build; sanitizer builds get kSanitizerFactor times as much,
  /// since their frames are larger.
  explicit StackPool(std::size_t stack_bytes);

  /// Fails as Stack::Map does.
  absl::StatusOr<Stack> Acquire();
  /// The stack must not be in use any more.
  void Release(Stack stack);

  /// Stacks ever mapped.
  std::size_t mapped() const { return mapped_; }

 private:
  std::size_t stack_bytes_;
  std::size_t mapped_ = 0;
  std::vector<Stack> free_;
};

}  // namespace glaive::engine
