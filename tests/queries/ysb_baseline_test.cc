// The hand-written loop of the benchmarks counts what the oracle counts: speeds of two right programs are compared.
#include <cstdint>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/baseline/count_table.h"
#include "bench/baseline/ysb_loop.h"
#include "queries/ysb/hash.h"
#include "queries/ysb/oracle.h"

namespace glaive::bench {
namespace {

using queries::ysb::GeneratorOptions;
using queries::ysb::Oracle;
using queries::ysb::Profile;
using queries::ysb::ResultRow;
using queries::ysb::Totals;
using queries::ysb::YsbEvent;

TEST(CountTableTest, CountsAndDrainsAcrossGrowth) {
  absl::StatusOr<CountTable> table = CountTable::Create(100'000);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const std::uint64_t keys : {1u, 600u, 615u, 100'000u, 10u}) {
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 2 * keys; ++i) {
      const std::uint64_t key = queries::ysb::Mix(1 + i % keys);
      table->Add({&key, 1});
      ++expected[key];
    }
    std::map<std::uint64_t, std::uint64_t> drained;
    table->Drain([&](std::uint64_t key, std::uint64_t count) { EXPECT_TRUE(drained.emplace(key, count).second); });
    EXPECT_EQ(drained, expected) << keys << " keys";
  }
  std::vector<std::uint64_t> many(256, 9);
  table->Add(many);
  table->Drain([](std::uint64_t key, std::uint64_t count) { EXPECT_EQ(key + count, 9u + 256u); });
  table->Drain([](std::uint64_t key, std::uint64_t) { ADD_FAILURE() << "key " << key << " is still there"; });
}

TEST(CountTableTest, AnAbsurdNumberOfKeysIsRefused) {
  EXPECT_EQ(CountTable::Create(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CountTable::Create(UINT64_MAX).status().code(), absl::StatusCode::kInvalidArgument);
}

struct Case {
  Profile profile;
  std::uint64_t keys;
  std::uint64_t records;
  std::int64_t windows;
  std::uint64_t repetitions;
};

class YsbLoopTest : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, YsbLoopTest,
                         testing::Values(Case{Profile::kSlash, 1, 1, 1, 1}, Case{Profile::kSlash, 7, 2'560, 1, 3},
                                         Case{Profile::kSlash, 500, 10'001, 3, 4},
                                         Case{Profile::kSlash, 10'000'000, 20'000, 10, 2},
                                         Case{Profile::kSlash, 40, 300, 1'000, 2},
                                         Case{Profile::kYahoo, 1, 10'000, 1, 1},
                                         Case{Profile::kYahoo, 1, 9'999, 10, 5}));

TEST_P(YsbLoopTest, EmitsWhatTheOracleExpects) {
  const Case& c = GetParam();
  const std::int64_t window_ms = 10'000;
  const std::int64_t span_ms = c.windows * window_ms;
  const GeneratorOptions generator{
      .profile = c.profile, .keys = c.keys, .rate = {.records = c.records, .span_ms = span_ms}, .window_ms = window_ms};
  std::vector<YsbEvent> block(c.records);
  queries::ysb::Generator(generator).Fill(0, 0, block);
  absl::StatusOr<YsbLoop> loop = YsbLoop::Create(
      {.profile = c.profile, .window_ms = window_ms, .keys = c.profile == Profile::kYahoo ? 100 : c.records});
  ASSERT_TRUE(loop.ok()) << loop.status();
  const BaselineResult result = loop->Run(block, c.repetitions, span_ms);

  const Oracle oracle({.generator = generator,
                       .record_counts = {c.records * c.repetitions},
                       .block_records = c.records,
                       .block_span_ms = span_ms});
  const Totals expected = oracle.Check({}).expected;
  EXPECT_TRUE(CheckTotals(expected, result.emitted).ok()) << CheckTotals(expected, result.emitted);
  EXPECT_EQ(result.records, c.records * c.repetitions);
  EXPECT_EQ(result.views, expected.count_sum);
  EXPECT_EQ(loop->Run(block, c.repetitions, span_ms).emitted, expected) << "a second run starts empty";
}

TEST(YsbLoopTest, AnEmptyBlockEmitsNothing) {
  absl::StatusOr<YsbLoop> loop = YsbLoop::Create({.keys = 10});
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_EQ(loop->Run({}, 5, queries::ysb::kSlashWindowMs).emitted, Totals{});
}

TEST(YsbLoopTest, AWindowOfNoLengthIsRefused) {
  EXPECT_EQ(YsbLoop::Create({.window_ms = 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(YsbLoopDeathTest, MoreKeysThanItWasMadeForEndTheProcess) {
  absl::StatusOr<CountTable> table = CountTable::Create(10);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_DEATH(
      {
        for (std::uint64_t key = 1; key < 2'000; ++key) {
          table->Add({&key, 1});
        }
      },
      "more than 614 keys in a window of the baseline");
}

}  // namespace
}  // namespace glaive::bench
