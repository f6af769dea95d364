#include "queries/loops/table_memory.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::queries {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

}  // namespace

absl::StatusOr<TableMemory> TableMemory::Map(std::size_t bytes) {
  const std::size_t mapped = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, kFlags | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
  if (memory == MAP_FAILED) {
    memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot map ", mapped, " bytes for the table of a hand-written loop: ", std::strerror(errno),
                       "; use fewer keys"));
    }
    // Transparent huge pages or, where the system has them off, ordinary ones.
    madvise(memory, mapped, MADV_HUGEPAGE);
  }
  std::memset(memory, 0, mapped);
  return TableMemory(static_cast<std::byte*>(memory), mapped);
}

void TableMemory::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

}  // namespace glaive::queries
