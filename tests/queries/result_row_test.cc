#include "queries/common/result_row.h"

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "queries/common/result_sinks.h"
#include "tests/queries/checked_rows.h"

namespace glaive::queries {
namespace {

TEST(ValueBitsTest, AreEqualIfAndOnlyIfTheResultsAre) {
  EXPECT_EQ(ValueBits(std::uint64_t{7}), 7U);
  EXPECT_EQ(ValueBits(std::int32_t{-1}), ValueBits(std::int64_t{-1}));
  EXPECT_EQ(ValueBits(absl::int128(-5)), ValueBits(std::int64_t{-5}));
  EXPECT_EQ(ValueBits(absl::MakeInt128(7, 5)), ValueBits(absl::MakeInt128(7, 5)));
  EXPECT_EQ(ValueBits(absl::int128(INT64_MIN)), std::uint64_t{1} << 63);
  EXPECT_NE(ValueBits(absl::MakeInt128(7, 5)), ValueBits(5)) << "the upper half counts";
  EXPECT_NE(ValueBits(absl::int128(INT64_MAX) + 1), ValueBits(absl::int128(INT64_MIN)));
  EXPECT_NE(ValueBits(absl::MakeInt128(7, 5)), ValueBits(absl::MakeInt128(8, 5)));
  EXPECT_NE(ValueBits(absl::MakeInt128(-7, 5)), ValueBits(absl::MakeInt128(7, 5)));
  EXPECT_EQ(ValueBits(0.25F), ValueBits(0.25));
  EXPECT_NE(ValueBits(1.0), ValueBits(1));
  EXPECT_NE(ValueBits(0.1F), ValueBits(0.1));
  EXPECT_EQ(ValueBits(std::optional<std::uint64_t>(3)), 3U);
}

TEST(ValueBitsTest, OfSeveralValuesAreEqualIfAndOnlyIfAllOfThemAre) {
  using Empty = std::optional<std::uint64_t>;
  const std::uint64_t pair = ValueBits(std::tuple(std::uint64_t{3}, std::int64_t{4}));
  EXPECT_EQ(ValueBits(std::tuple(Empty(3), Empty(4))), pair) << "whichever sides of a join may be empty";
  for (const auto& other :
       {std::tuple(Empty(4), Empty(3)), std::tuple(Empty(3), Empty(5)), std::tuple(Empty(3), Empty()),
        std::tuple(Empty(), Empty(4)), std::tuple(Empty(), Empty(3)), std::tuple(Empty(), Empty())}) {
    EXPECT_NE(ValueBits(other), pair);
  }
  EXPECT_NE(ValueBits(std::tuple(Empty(3), Empty())), ValueBits(std::tuple(Empty(), Empty(3))));
  EXPECT_NE(ValueBits(std::tuple(Empty(3), Empty())), ValueBits(std::tuple(Empty(3), Empty(0))));
}

Totals TotalsOf(const ResultRow& row) {
  Totals totals;
  totals.Add(row);
  return totals;
}

TEST(TotalsTest, TheChecksumTellsFieldsApart) {
  const Totals totals = TotalsOf({3, 4, 5, 6});
  for (const ResultRow other : {ResultRow{4, 3, 5, 6}, ResultRow{3, 5, 4, 6}, ResultRow{3, 4, 6, 5},
                                ResultRow{2, 5, 5, 6}, ResultRow{3, 3, 6, 6}, ResultRow{3, 4, 5, 7}}) {
    EXPECT_NE(TotalsOf(other).checksum, totals.checksum);
  }
}

TEST(TotalsTest, OfASinkAreThoseOfItsRows) {
  using Row = engine::WindowResult<std::uint64_t, std::uint64_t>;
  Totals of_sink;
  Totals expected;
  AddRows<Row> sink(of_sink);
  std::vector<Row> rows;
  for (const std::int64_t start_ms : {0, 0, 10, 10, 0, -10, 10}) {
    for (const std::int64_t end_ms : {0, 10, 20}) {
      const auto number = static_cast<std::uint64_t>(rows.size());
      rows.push_back({.window_start_ms = start_ms, .window_end_ms = end_ms, .key = number, .value = 3 * number});
      expected.Add(ToResultRow(rows.back()));
    }
  }
  ASSERT_TRUE(sink.Write(std::span(rows).first(9)).ok());
  ASSERT_TRUE(sink.Write(std::span(rows).subspan(9)).ok());
  EXPECT_EQ(of_sink, expected);
}

TEST(TotalsTest, AddUpInAnyOrder) {
  const ResultRow one{0, 10, 1, 100};
  const ResultRow two{10, 20, 2, 200};
  Totals forward = TotalsOf(one);
  forward.Add(two);
  Totals merged = TotalsOf(two);
  merged.Merge(TotalsOf(one));
  EXPECT_EQ(forward, merged);
  EXPECT_EQ(forward.rows, 2U);
  EXPECT_EQ(forward.value_sum, 300U);
  EXPECT_NE(forward, TotalsOf(one));
}

}  // namespace
}  // namespace glaive::queries
