// PageRegion: zeroed memory straight from the system, on the largest pages it can get.
//
// Rings and send segments live in such regions: large pages save the NIC's and the processor's address translation
// (paper section 6.3). A region says which kind of page it got, because shared memory often has none but base pages.
// The object owns the memory; any thread may map and unmap it.
//
// Costs: Map and Destroy are system calls; nothing is touched before its first use, so memory that is never used costs
// address space only (huge pages of the pool are the exception: the system sets them aside at once). Prefault changes
// that: the system clears every page, about a gigabyte in a third of a second.
//
//   absl::StatusOr<PageRegion> region = PageRegion::Map(8 << 20);
//   if (region.ok()) std::memset(region->data(), 1, region->size_bytes());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"
#include "rdma/base/watch.h"

namespace glaive::rdma {

/// What backs a region.
enum class PageKind : std::uint8_t {
  kHuge,         ///< 2 MiB pages from the system's pool (vm.nr_hugepages)
  kTransparent,  ///< 2 MiB pages the kernel may form by itself; asked for, not guaranteed
  kBase,         ///< the processor's smallest pages
};

/// "huge", "transparent" or "base".
const char* Name(PageKind kind);

/// Takes the pages of `memory` from the system now, on the NUMA node of the calling thread's processor, so that no
/// first use of one costs a page fault. Contents stay; nobody else may write them meanwhile. It takes about a third of
/// a second a gigabyte; `watch` may end it.
absl::Status PrefaultPages(std::span<std::byte> memory, const Watch& watch);

/// Move-only owner of one mapping.
class PageRegion {
 public:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  PageRegion() = default;
  PageRegion(PageRegion&& other) noexcept;
  PageRegion& operator=(PageRegion&& other) noexcept;
  ~PageRegion();

  /// Private memory of at least `size_bytes` (rounded up to whole pages), zeroed. ResourceExhausted says how much was
  /// wanted and what to do; InvalidArgument for 0.
  static absl::StatusOr<PageRegion> Map(std::size_t size_bytes);

  /// Memory that other processes can map through fd(): an anonymous memory file, sealed against shrinking, so that
  /// no holder can take pages away from another. Nothing of it has a name, so a killed process leaves nothing behind.
  static absl::StatusOr<PageRegion> MapShared(std::size_t size_bytes);

  /// Maps the first `size_bytes` of a peer's memory file. The descriptor may be closed afterwards.
  static absl::StatusOr<PageRegion> MapFile(int fd, std::size_t size_bytes);

  /// PrefaultPages of all of it.
  absl::Status Prefault(const Watch& watch) const;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  std::span<std::byte> bytes() const { return {data_, size_bytes_}; }
  PageKind pages() const { return pages_; }

  /// The memory file of a MapShared region; -1 for the others. Stays this region's.
  int fd() const { return fd_.get(); }

 private:
  PageRegion(std::byte* data, std::size_t size_bytes, PageKind pages, UniqueFd fd);
  void Unmap();

  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;  // whole pages, what munmap gets
  PageKind pages_ = PageKind::kBase;
  UniqueFd fd_;
};

}  // namespace glaive::rdma
