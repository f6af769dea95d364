#include "engine/fiber/stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/sanitizers.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kMinStackBytes = 16 * 1024;
constexpr std::size_t kMaxStackBytes = std::size_t{1} << 30;

// Sanitized frames carry red zones and are several times as large.
constexpr std::size_t kSanitizerFactor = kAddressSanitizer || kThreadSanitizer ? 4 : 1;

}  // namespace

absl::StatusOr<Stack> Stack::Map(std::size_t size_bytes) {
  if (size_bytes > kMaxStackBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a fiber stack of ", size_bytes, " bytes was asked for; the most is ", kMaxStackBytes));
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = (std::max(size_bytes, kMinStackBytes) + page - 1) / page * page;
  const std::size_t total = usable + page;
  void* mapping = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot map a fiber stack of ", total, " bytes: ", std::strerror(errno),
                     "; use fewer executors, or raise the address space limit (ulimit -v) or vm.max_map_count"));
  }
  Stack stack(static_cast<std::byte*>(mapping), total, page);
  if (mprotect(stack.bottom(), usable, PROT_READ | PROT_WRITE) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot open ", usable,
                                                     " bytes of fiber stack for use: ", std::strerror(errno),
                                                     "; use fewer executors, or raise vm.max_map_count"));
  }
  return stack;
}

Stack::Stack(Stack&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      guard_bytes_(other.guard_bytes_) {}

Stack& Stack::operator=(Stack&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(guard_bytes_, other.guard_bytes_);
  return *this;
}

Stack::~Stack() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  }
}

StackPool::StackPool(std::size_t stack_bytes) : stack_bytes_(stack_bytes * kSanitizerFactor) {}

absl::StatusOr<Stack> StackPool::Acquire() {
  if (free_.empty()) {
    absl::StatusOr<Stack> stack = Stack::Map(stack_bytes_);
    mapped_ += stack.ok() ? 1 : 0;
    return stack;
  }
  Stack stack = std::move(free_.back());
  free_.pop_back();
  return stack;
}

void StackPool::Release(Stack stack) { free_.push_back(std::move(stack)); }

}  // namespace glaive::engine
