#include "rdma/memory/page_region.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/base/exhaustion.h"

namespace glaive::rdma {
namespace {

constexpr std::size_t kPrefaultedUnwatched = std::size_t{32} << 20;
constexpr int kProtection = PROT_READ | PROT_WRITE;
// The size is said: without it the system takes its default huge page, which may be 1 GiB.
constexpr int kMapHuge = MAP_HUGETLB | MAP_HUGE_2MB;
constexpr unsigned kFileHuge = MFD_HUGETLB | MFD_HUGE_2MB;
constexpr const char* kAnonymousSetting = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* kSharedSetting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

std::size_t RoundUp(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::size_t BasePageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The chosen one of the kernel's words stands in brackets: "always [madvise] never".
bool TransparentPagesAllowed(const char* setting) {
  std::ifstream file(setting);
  const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return !words.empty() && !absl::StrContains(words, "[never]") && !absl::StrContains(words, "[deny]");
}

absl::Status MapError(int error, const char* call, std::size_t size_bytes) {
  const std::string message = absl::StrCat(
      "cannot map ", FormatBytes(size_bytes), " (", call,
      "): free memory on this host, raise its limits (ulimit -v, ulimit -f, cgroup), or ask for less: smaller "
      "--slot-bytes, --credits or --ring-budget, fewer --executors");
  if (error == ENOMEM || error == ENOSPC || error == EAGAIN) return absl::ResourceExhaustedError(message);
  if (error == EMFILE || error == ENFILE) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot map ", FormatBytes(size_bytes), " (", call, "): ", ErrorText(error)));
  }
  return absl::ErrnoToStatus(error, message);
}

// Address space of `size_bytes` that starts at a huge page, to be mapped over.
absl::StatusOr<std::byte*> ReserveAligned(std::size_t size_bytes) {
  const std::size_t reserved_bytes = size_bytes + PageRegion::kHugePageBytes;
  void* const reserved = mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return MapError(errno, "mmap", size_bytes);
  auto* const first = static_cast<std::byte*>(reserved);
  const auto address = reinterpret_cast<std::uintptr_t>(reserved);
  const std::size_t before = RoundUp(address, PageRegion::kHugePageBytes) - address;
  std::byte* const start = first + before;
  if (before > 0) munmap(first, before);
  const std::size_t after = reserved_bytes - before - size_bytes;
  if (after > 0) munmap(start + size_bytes, after);
  return start;
}

struct Mapping {
  std::byte* data;
  bool transparent;
};

// Maps `fd` (-1: anonymous memory) on base pages, and asks for transparent huge ones where they could be.
absl::StatusOr<Mapping> MapBase(int fd, std::size_t size_bytes) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  const bool wanted =
      size_bytes >= PageRegion::kHugePageBytes && TransparentPagesAllowed(fd < 0 ? kAnonymousSetting : kSharedSetting);
  if (!wanted) {
    void* const data = mmap(nullptr, size_bytes, kProtection, flags, fd, 0);
    if (data == MAP_FAILED) return MapError(errno, "mmap", size_bytes);
    return Mapping{static_cast<std::byte*>(data), false};
  }
  absl::StatusOr<std::byte*> start = ReserveAligned(size_bytes);
  if (!start.ok()) return start.status();
  if (mmap(*start, size_bytes, kProtection, flags | MAP_FIXED, fd, 0) == MAP_FAILED) {
    const int error = errno;
    munmap(*start, size_bytes);
    return MapError(error, "mmap", size_bytes);
  }
  return Mapping{*start, madvise(*start, size_bytes, MADV_HUGEPAGE) == 0};
}

// A memory file of exactly `size_bytes` that can never change its size again. `huge`: of 2 MiB pages.
absl::StatusOr<UniqueFd> MakeMemoryFile(std::size_t size_bytes, bool huge) {
  UniqueFd fd(memfd_create("glaive", MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? kFileHuge : 0U)));
  if (!fd.valid()) return MapError(errno, "memfd_create", size_bytes);
  if (ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0) return MapError(errno, "ftruncate", size_bytes);
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return MapError(errno, "F_ADD_SEALS", size_bytes);
  }
  return fd;
}

// The page size of the file system that holds `fd`.
std::size_t FilePageBytes(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 ? static_cast<std::size_t>(status.st_blksize) : 0;
}

}  // namespace

const char* Name(PageKind kind) {
  switch (kind) {
    case PageKind::kHuge:
      return "huge";
    case PageKind::kTransparent:
      return "transparent";
    case PageKind::kBase:
      return "base";
  }
  return "unknown";
}

absl::Status PrefaultPages(std::span<std::byte> memory, const Watch& watch) {
  const std::size_t page_bytes = BasePageBytes();
  for (std::size_t offset = 0; offset < memory.size(); offset += page_bytes) {
    if (offset % kPrefaultedUnwatched == 0) {
      if (absl::Status status = watch(); !status.ok()) return status;
    }
    volatile std::byte* const first = memory.data() + offset;
    *first = *first;  // a write gives the page its memory
  }
  return absl::OkStatus();
}

absl::StatusOr<PageRegion> PageRegion::Map(std::size_t size_bytes) {
  if (size_bytes == 0) return absl::InvalidArgumentError("cannot map a region of 0 bytes");
  if (size_bytes >= kHugePageBytes) {
    const std::size_t rounded = RoundUp(size_bytes, kHugePageBytes);
    void* const data = mmap(nullptr, rounded, kProtection, MAP_PRIVATE | MAP_ANONYMOUS | kMapHuge, -1, 0);
    if (data != MAP_FAILED) return PageRegion(static_cast<std::byte*>(data), rounded, PageKind::kHuge, UniqueFd());
  }
  const std::size_t rounded = RoundUp(size_bytes, BasePageBytes());
  absl::StatusOr<Mapping> mapping = MapBase(-1, rounded);
  if (!mapping.ok()) return mapping.status();
  return PageRegion(mapping->data, rounded, mapping->transparent ? PageKind::kTransparent : PageKind::kBase,
                    UniqueFd());
}

absl::StatusOr<PageRegion> PageRegion::MapShared(std::size_t size_bytes) {
  if (size_bytes == 0) return absl::InvalidArgumentError("cannot map a region of 0 bytes");
  if (size_bytes >= kHugePageBytes) {
    const std::size_t rounded = RoundUp(size_bytes, kHugePageBytes);
    absl::StatusOr<UniqueFd> fd = MakeMemoryFile(rounded, /*huge=*/true);
    if (fd.ok()) {
      void* const data = mmap(nullptr, rounded, kProtection, MAP_SHARED, fd->get(), 0);
      if (data != MAP_FAILED) {
        return PageRegion(static_cast<std::byte*>(data), rounded, PageKind::kHuge, *std::move(fd));
      }
    }
  }
  const std::size_t rounded = RoundUp(size_bytes, BasePageBytes());
  absl::StatusOr<UniqueFd> fd = MakeMemoryFile(rounded, /*huge=*/false);
  if (!fd.ok()) return fd.status();
  absl::StatusOr<Mapping> mapping = MapBase(fd->get(), rounded);
  if (!mapping.ok()) return mapping.status();
  return PageRegion(mapping->data, rounded, mapping->transparent ? PageKind::kTransparent : PageKind::kBase,
                    *std::move(fd));
}

absl::StatusOr<PageRegion> PageRegion::MapFile(int fd, std::size_t size_bytes) {
  if (size_bytes == 0) return absl::InvalidArgumentError("cannot map a region of 0 bytes");
  const std::size_t page_bytes = FilePageBytes(fd);
  if (page_bytes >= kHugePageBytes) {
    const std::size_t rounded = RoundUp(size_bytes, page_bytes);
    void* const data = mmap(nullptr, rounded, kProtection, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return MapError(errno, "mmap", rounded);
    return PageRegion(static_cast<std::byte*>(data), rounded, PageKind::kHuge, UniqueFd());
  }
  const std::size_t rounded = RoundUp(size_bytes, BasePageBytes());
  absl::StatusOr<Mapping> mapping = MapBase(fd, rounded);
  if (!mapping.ok()) return mapping.status();
  return PageRegion(mapping->data, rounded, mapping->transparent ? PageKind::kTransparent : PageKind::kBase,
                    UniqueFd());
}

PageRegion::PageRegion(std::byte* data, std::size_t size_bytes, PageKind pages, UniqueFd fd)
    : data_(data), size_bytes_(size_bytes), pages_(pages), fd_(std::move(fd)) {}

PageRegion::PageRegion(PageRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      pages_(other.pages_),
      fd_(std::move(other.fd_)) {}

PageRegion& PageRegion::operator=(PageRegion&& other) noexcept {
  if (this != &other) {
    Unmap();
    data_ = std::exchange(other.data_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    pages_ = other.pages_;
    fd_ = std::move(other.fd_);
  }
  return *this;
}

PageRegion::~PageRegion() { Unmap(); }

absl::Status PageRegion::Prefault(const Watch& watch) const { return PrefaultPages(bytes(), watch); }

void PageRegion::Unmap() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
  data_ = nullptr;
  size_bytes_ = 0;
}

}  // namespace glaive::rdma
