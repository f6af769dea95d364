#include "bench/baseline/count_table.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::bench {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 32;

std::size_t LimitOf(int bits) { return (std::size_t{1} << bits) * 6 / 10; }

}  // namespace

absl::StatusOr<CountTable::Slots> CountTable::Map(int bits) {
  const std::size_t wanted = sizeof(Slot) << bits;
  const std::size_t bytes = (wanted + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
  if (memory == MAP_FAILED) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "cannot map ", bytes, " bytes for the baseline's table: ", std::strerror(errno), "; use fewer keys"));
    }
    // Transparent huge pages or, where the system has them off, ordinary ones.
    madvise(memory, bytes, MADV_HUGEPAGE);
  }
  std::memset(memory, 0, bytes);
  return Slots(static_cast<Slot*>(memory), Unmap{.bytes = bytes});
}

void CountTable::Unmap::operator()(Slot* slots) const { munmap(slots, bytes); }

absl::StatusOr<CountTable> CountTable::Create(std::uint64_t keys) {
  if (keys == 0 || keys > kMostKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("the baseline cannot count ", keys, " keys; it takes 1 to ", kMostKeys));
  }
  int most_bits = kSmallestBits;
  while (LimitOf(most_bits) < keys) {
    ++most_bits;
  }
  absl::StatusOr<Slots> largest = Map(most_bits);
  absl::StatusOr<Slots> second_largest = Map(most_bits - 1);
  if (!largest.ok() || !second_largest.ok()) {
    return largest.ok() ? second_largest.status() : largest.status();
  }
  if (most_bits % 2 != 0) {
    std::swap(largest, second_largest);
  }
  return CountTable(*std::move(largest), *std::move(second_largest), most_bits);
}

CountTable::CountTable(Slots even, Slots odd, int most_bits)
    : memory_{std::move(even), std::move(odd)}, most_bits_(most_bits) {
  Resize(kSmallestBits);
}

void CountTable::Resize(int bits) {
  bits_ = bits;
  shift_ = 64 - bits;
  mask_ = (std::size_t{1} << bits) - 1;
  limit_ = LimitOf(bits);
  slots_ = memory_[static_cast<std::size_t>(bits % 2)].get();
}

void CountTable::GrowFor(std::size_t keys) {
  GLAIVE_CHECK(keys <= kKeysAtOnce, keys, " keys were added at once");
  while (used_ + keys > limit_ && bits_ < most_bits_) {
    Grow();
  }
  // Some of `keys` may be known already, so the largest table is only full once it has more. The slots above the limit
  // hold any kKeysAtOnce keys.
  GLAIVE_CHECK(used_ <= limit_, "more than ", limit_, " keys in a window of the baseline");
}

void CountTable::Grow() {
  const std::span<Slot> old(slots_, mask_ + 1);
  Resize(bits_ + 1);
  for (Slot& slot : old) {
    if (slot.key == 0) {
      continue;
    }
    std::size_t i = Home(slot.key);
    while (slots_[i].key != 0) {
      i = (i + 1) & mask_;
    }
    slots_[i] = std::exchange(slot, {});
  }
}

}  // namespace glaive::bench
