#include "rdma/memory/page_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

bool AllZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool Never(const char* setting) {
  std::ifstream file(setting);
  const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return words.empty() || words.find("[never]") != std::string::npos || words.find("[deny]") != std::string::npos;
}

TEST(PageRegion, MapsZeroedMemoryOfWholePages) {
  const PageRegion region = PageRegion::Map(5000).value();
  EXPECT_GE(region.size_bytes(), 5000U);
  EXPECT_EQ(region.size_bytes() % static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), 0U);
  EXPECT_TRUE(AllZero(region.bytes()));
  region.bytes().back() = std::byte{1};
}

TEST(PageRegion, HasAllItsPagesOncePrefaulted) {
  const PageRegion region = PageRegion::Map(3 * PageRegion::kHugePageBytes).value();
  std::vector<unsigned char> resident(region.size_bytes() / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  const auto resident_pages = [&] {
    EXPECT_EQ(mincore(region.data(), region.size_bytes(), resident.data()), 0);
    return std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; });
  };
  if (region.pages() != PageKind::kHuge) {
    EXPECT_EQ(resident_pages(), 0);
  }
  ASSERT_EQ(region.Prefault(GoOn), absl::OkStatus());
  EXPECT_EQ(static_cast<std::size_t>(resident_pages()), resident.size());
  EXPECT_TRUE(AllZero(region.bytes()));
}

TEST(PageRegion, IsOnBasePagesBelowTheSizeOfAHugeOne) {
  EXPECT_EQ(PageRegion::Map(PageRegion::kHugePageBytes - 4096).value().pages(), PageKind::kBase);
  EXPECT_EQ(PageRegion::MapShared(4096).value().pages(), PageKind::kBase);
}

TEST(PageRegion, SaysTransparentOnlyWhereTheSystemAllowsIt) {
  const PageRegion region = PageRegion::Map(3 * PageRegion::kHugePageBytes).value();
  if (Never("/sys/kernel/mm/transparent_hugepage/enabled")) {
    EXPECT_NE(region.pages(), PageKind::kTransparent);
  }
  const PageRegion shared = PageRegion::MapShared(3 * PageRegion::kHugePageBytes).value();
  if (Never("/sys/kernel/mm/transparent_hugepage/shmem_enabled")) {
    EXPECT_NE(shared.pages(), PageKind::kTransparent);
  }
}

TEST(PageRegion, StartsAtAHugePageWhereItMayHaveSome) {
  const PageRegion region = PageRegion::Map(3 * PageRegion::kHugePageBytes + 4096).value();
  if (region.pages() == PageKind::kBase) GTEST_SKIP() << "this system has no huge pages for anonymous memory";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data()) % PageRegion::kHugePageBytes, 0U);
  region.bytes().front() = std::byte{1};
  region.bytes().back() = std::byte{1};
}

TEST(PageRegion, RefusesNothing) {
  EXPECT_EQ(PageRegion::Map(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PageRegion::MapShared(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PageRegion::MapFile(0, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(PageRegion, SaysHowMuchWasWantedAndWhatToDoWhenThereIsTooLittle) {
  constexpr std::size_t kAbsurd = std::size_t{1} << 56;
  for (const absl::Status& status : {PageRegion::Map(kAbsurd).status(), PageRegion::MapShared(kAbsurd).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.message(), HasSubstr("65536TiB"));
    EXPECT_THAT(status.message(), HasSubstr("--ring-budget"));
  }
}

TEST(PageRegion, SharesMemoryThroughItsFile) {
  const PageRegion owner = PageRegion::MapShared(10000).value();
  ASSERT_GE(owner.fd(), 0);
  const PageRegion other = PageRegion::MapFile(owner.fd(), owner.size_bytes()).value();
  EXPECT_NE(owner.data(), other.data());
  EXPECT_TRUE(AllZero(owner.bytes()));
  other.bytes()[9999] = std::byte{42};
  EXPECT_EQ(owner.bytes()[9999], std::byte{42});
  EXPECT_EQ(other.fd(), -1);
}

TEST(PageRegion, FileCannotBeCutByAnyone) {
  const PageRegion owner = PageRegion::MapShared(10000).value();
  EXPECT_NE(ftruncate(owner.fd(), 0), 0);
  EXPECT_NE(ftruncate(owner.fd(), 1 << 20), 0);
}

TEST(PageRegion, MappingOfAFileOutlivesItsOwner) {
  PageRegion other;
  {
    const PageRegion owner = PageRegion::MapShared(4096).value();
    owner.bytes()[1] = std::byte{7};
    other = PageRegion::MapFile(owner.fd(), owner.size_bytes()).value();
  }
  EXPECT_EQ(other.bytes()[1], std::byte{7});
}

TEST(PageRegion, MovesItsMappingAndItsFile) {
  PageRegion first = PageRegion::MapShared(4096).value();
  std::byte* const data = first.data();
  const int fd = first.fd();
  PageRegion second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.fd(), fd);
  PageRegion third = PageRegion::Map(4096).value();
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  third.bytes()[0] = std::byte{1};
}

TEST(PageRegion, NamesItsKindsOfPages) {
  EXPECT_STREQ(Name(PageKind::kHuge), "huge");
  EXPECT_STREQ(Name(PageKind::kTransparent), "transparent");
  EXPECT_STREQ(Name(PageKind::kBase), "base");
}

}  // namespace
}  // namespace glaive::rdma
