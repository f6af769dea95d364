#include "rdma/base/bytes.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(ParseBytes, TakesEveryUnitAndNone) {
  EXPECT_EQ(ParseBytes("0").value(), 0U);
  EXPECT_EQ(ParseBytes("65536").value(), 65536U);
  EXPECT_EQ(ParseBytes("17B").value(), 17U);
  EXPECT_EQ(ParseBytes("64KiB").value(), 65536U);
  EXPECT_EQ(ParseBytes("1MiB").value(), std::uint64_t{1} << 20);
  EXPECT_EQ(ParseBytes("2GiB").value(), std::uint64_t{2} << 30);
  EXPECT_EQ(ParseBytes("3TiB").value(), std::uint64_t{3} << 40);
}

TEST(ParseBytes, IgnoresCaseAndBlanksBeforeTheUnit) {
  EXPECT_EQ(ParseBytes("64 kib").value(), 65536U);
  EXPECT_EQ(ParseBytes("1mIb").value(), std::uint64_t{1} << 20);
}

TEST(ParseBytes, RefusesWhatIsNoSizeAndQuotesIt) {
  for (const char* text : {"", "KiB", "-1", "+1", " 1", "1.5GiB", "64KB", "64K", "1 MiB x", "0x10", "1MiBMiB"}) {
    const absl::StatusOr<std::uint64_t> bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(bytes.status().message(), HasSubstr(std::string("'") + text + "'"));
    EXPECT_THAT(bytes.status().message(), HasSubstr("64KiB"));
  }
}

TEST(ParseBytes, RefusesWhat64BitsDoNotHold) {
  EXPECT_EQ(ParseBytes("18446744073709551615").value(), kMax);
  EXPECT_THAT(ParseBytes("18446744073709551616").status().message(), HasSubstr("64 bits"));
  EXPECT_EQ(ParseBytes("16777215TiB").value(), std::uint64_t{16777215} << 40);
  EXPECT_THAT(ParseBytes("16777216TiB").status().message(), HasSubstr("64 bits"));
}

TEST(FormatBytes, WritesExactMultiplesAsWholeNumbers) {
  EXPECT_EQ(FormatBytes(0), "0B");
  EXPECT_EQ(FormatBytes(1023), "1023B");
  EXPECT_EQ(FormatBytes(1024), "1KiB");
  EXPECT_EQ(FormatBytes(std::uint64_t{8} << 20), "8MiB");
  EXPECT_EQ(FormatBytes(std::uint64_t{1} << 40), "1TiB");
}

TEST(FormatBytes, RoundsOtherSizesToTwoDecimals) {
  EXPECT_EQ(FormatBytes(1536), "1.50KiB");
  EXPECT_EQ(FormatBytes(1'567'890'000), "1.46GiB");
}

TEST(FormatBytes, WritesWhatParseBytesReads) {
  for (int shift = 0; shift < 50; ++shift) {
    const std::uint64_t bytes = std::uint64_t{1} << shift;
    EXPECT_EQ(ParseBytes(FormatBytes(bytes)).value(), bytes);
  }
}

}  // namespace
}  // namespace glaive
