// The hand-written loops over tumbling windows emit what the oracle does: speeds of two right programs are compared.
#include "queries/loops/window_loop.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/cm/cpu_mean_fold.h"
#include "queries/cm/generator.h"
#include "queries/common/oracle.h"
#include "queries/common/random.h"
#include "queries/loops/key_counts.h"
#include "queries/loops/loop_totals.h"
#include "queries/nb7/bid_fold.h"
#include "queries/nb7/generator.h"
#include "queries/ro/generator.h"
#include "queries/ro/item_fold.h"
#include "queries/swa/event_folds.h"
#include "queries/swa/generator.h"
#include "queries/ysb/ysb_fold.h"
#include "queries/ysb/ysb_query.h"
#include "queries/ysb_star/click_ratio_fold.h"
#include "tests/queries/checked_block.h"

namespace glaive::queries {
namespace {

using cm::CpuMeanFold;
using nb7::BidFold;
using ro::ItemFold;
using swa::AllEventsFold;
using swa::EventsOfAdFold;
using ysb::CampaignTable;
using ysb::EventType;
using ysb::Profile;
using ysb::YsbEvent;
using ysb::YsbEventTime;
using ysb::YsbFold;
using ysb::YsbGenerator;
using ysb_star::ClickRatioFold;

TEST(AccountTableTest, CountsAndDrainsAcrossGrowth) {
  absl::StatusOr<AccountTable<CountOf>> table = AccountTable<CountOf>::Create(100'000);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const std::uint64_t keys : {1u, 600u, 615u, 100'000u, 10u}) {
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 2 * keys; ++i) {
      const std::uint64_t key = Mix(1 + i % keys);
      CountKeys({&key, 1}, *table);
      ++expected[key];
    }
    std::map<std::uint64_t, std::uint64_t> drained;
    table->Drain([&](std::uint64_t key, CountOf account) { EXPECT_TRUE(drained.emplace(key, account.count).second); });
    EXPECT_EQ(drained, expected) << keys << " keys";
  }
  std::vector<std::uint64_t> many(256, 9);
  CountKeys(many, *table);
  table->Drain([](std::uint64_t key, CountOf account) { EXPECT_EQ(key + account.count, 9u + 256u); });
  table->Drain([](std::uint64_t key, CountOf) { ADD_FAILURE() << "key " << key << " is still there"; });
}

TEST(AccountTableTest, AnAbsurdNumberOfKeysIsRefused) {
  EXPECT_EQ(AccountTable<CountOf>::Create(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AccountTable<CountOf>::Create(UINT64_MAX).status().code(), absl::StatusCode::kInvalidArgument);
}

constexpr std::int64_t kSpanMs = 120'000;

struct Case {
  Profile profile;
  std::uint64_t keys;
  std::uint64_t records;
  std::int64_t windows;
  std::uint64_t repetitions;
};

class WindowLoopTest : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, WindowLoopTest,
                         testing::Values(Case{Profile::kSlash, 1, 1, 1, 1}, Case{Profile::kSlash, 7, 2'560, 1, 3},
                                         Case{Profile::kSlash, 500, 10'001, 3, 4},
                                         Case{Profile::kSlash, 10'000'000, 20'000, 10, 2},
                                         Case{Profile::kSlash, 40, 300, 1'000, 2},
                                         Case{Profile::kYahoo, 1, 10'000, 1, 1},
                                         Case{Profile::kYahoo, 1, 9'999, 10, 5}));

TEST_P(WindowLoopTest, EmitsWhatTheOracleExpects) {
  const Case& c = GetParam();
  const std::int64_t window_ms = 10'000;
  const std::int64_t span_ms = c.windows * window_ms;
  InputOptions input{.keys = {.count = c.keys}};
  input.timeline.rate = {.records = c.records, .span_ms = span_ms};
  const YsbGenerator generator(c.profile, input);
  std::vector<YsbEvent> block(c.records);
  generator.Fill(0, 0, block);
  const bool yahoo = c.profile == Profile::kYahoo;
  auto loop = WindowLoop<YsbFold>::Create({yahoo ? std::make_shared<const CampaignTable>() : nullptr},
                                          {.window_ms = window_ms, .keys = yahoo ? 100 : c.records});
  ASSERT_TRUE(loop.ok()) << loop.status();
  LoopRepetition repetition{.repetitions = c.repetitions, .span_ms = span_ms};
  const Totals emitted = LoopTotals(*loop, block, repetition);

  const Oracle<YsbEvent> oracle("ysb", CheckedBlock<YsbEvent>(generator, YsbEventTime{}, c.records, repetition),
                                {.size_ms = window_ms, .slide_ms = window_ms});
  std::map<std::uint64_t, std::uint64_t> campaigns;
  for (const ysb::Ad& ad : ysb::AllAds()) {
    campaigns.emplace(ad.id, ad.campaign);
  }
  const auto key_of = [&](const YsbEvent& event) -> std::optional<std::uint64_t> {
    if (event.event_type != EventType::kView) {
      return std::nullopt;
    }
    const std::uint64_t ad_id = event.ad_id;
    return c.profile == Profile::kYahoo ? campaigns.at(ad_id) : ad_id;
  };
  const Totals expected = oracle.Check<CountAccount<YsbEvent>>(key_of, {}).expected;
  EXPECT_EQ(CheckTotals("loop", expected, emitted), absl::OkStatus());
  repetition.batch_records = 7;
  EXPECT_EQ(LoopTotals(*loop, block, repetition), expected) << "a second run starts empty";
}

/// One flow of some records, in two repetitions, through a loop and through the oracle.
template <typename Account, typename Fold, typename Generator, typename EventTime>
void ExpectTheOraclesRows(const Generator& generator, EventTime event_time_ms, std::int64_t window_ms,
                          const typename Oracle<typename Fold::Record>::KeyOf& key_of, Fold fold = {}) {
  using R = typename Fold::Record;
  std::vector<R> block(20'000);
  generator.Fill(0, 0, block);
  auto loop = WindowLoop<Fold>::Create(std::move(fold), {.window_ms = window_ms, .keys = block.size()});
  ASSERT_TRUE(loop.ok()) << loop.status();
  const LoopRepetition repetition{.repetitions = 2, .span_ms = kSpanMs};
  const Oracle<R> oracle("loop", CheckedBlock<R>(generator, event_time_ms, block.size(), repetition),
                         {.size_ms = window_ms, .slide_ms = window_ms});
  const Totals expected = oracle.template Check<Account>(key_of, {}).expected;
  EXPECT_GT(expected.rows, 500u);
  EXPECT_EQ(CheckTotals("loop", expected, LoopTotals(*loop, block, repetition)), absl::OkStatus());
}

struct OracleOfBids {
  void Add(const nexmark::Bid& bid) { price = std::max(price, bid.price); }
  std::uint64_t value() const { return price; }

  std::uint64_t price = 0;
};

struct OracleOfCpu {
  void Add(const cm::TaskEvent& event) {
    sum += double{event.cpu};
    count += 1;
  }
  double value() const { return sum / count; }

  double sum = 0;
  double count = 0;
};

TEST(WindowLoopTest, OfBidsTaskEventsAndItemsEmitWhatTheOracleExpects) {
  InputOptions input{.keys = {.count = 1'000}};
  input.timeline = {.rate = {.records = 20'000, .span_ms = kSpanMs}, .align_ms = kSpanMs};
  ExpectTheOraclesRows<OracleOfBids, BidFold>(nb7::BidGenerator(input), nexmark::BidTime{}, 60'000,
                                              [](const auto& bid) { return std::optional(bid.auction); });
  ExpectTheOraclesRows<OracleOfCpu, CpuMeanFold>(
      cm::TaskEventGenerator(input), cm::TaskEventTime{}, 2'000,
      [](const auto& event) { return std::optional(static_cast<std::uint64_t>(event.job_id)); });
  ExpectTheOraclesRows<CountAccount<ro::Item>, ItemFold>(ro::ItemGenerator(input), ro::ItemTime{}, 0,
                                                         [](const auto& item) { return std::optional(item.key); });
}

TEST(WindowLoopTest, OfAirsEventsEmitsWhatTheOracleExpects) {
  InputOptions input{.keys = {.count = 100}};
  input.timeline = {.rate = {.records = 20'000, .span_ms = kSpanMs}, .align_ms = kSpanMs};
  ExpectTheOraclesRows<CountAccount<swa::AirEvent>, AllEventsFold>(
      swa::AirEventGenerator(input), swa::AirEventTime{}, 100,
      [](const auto& /*event*/) { return std::optional(std::uint64_t{0}); });
  ExpectTheOraclesRows<CountAccount<swa::AirEvent>, EventsOfAdFold>(
      swa::AirEventGenerator(input), swa::AirEventTime{}, 1'000,
      [](const auto& event) { return std::optional(event.ad_id); });
}

struct OracleOfClickRatios {
  void Add(const YsbEvent& event) { (event.event_type == EventType::kClick ? clicks : views) += 1; }
  std::optional<double> value() const { return clicks > 0 && views > 0 ? std::optional(clicks / views) : std::nullopt; }

  double clicks = 0;
  double views = 0;
};

TEST(WindowLoopTest, OfClickRatiosEmitsCampaignsWithBothClicksAndViews) {
  InputOptions input;
  input.timeline = {.rate = {.records = 20'000, .span_ms = kSpanMs}, .align_ms = kSpanMs};
  const auto campaigns = std::make_shared<const CampaignTable>();
  // In a second a campaign has one click or view on average, so many have no row.
  ExpectTheOraclesRows<OracleOfClickRatios, ClickRatioFold>(
      YsbGenerator(Profile::kYahoo, input), YsbEventTime{}, 1'000,
      [&](const YsbEvent& event) {
        return event.event_type == EventType::kPurchase ? std::nullopt : std::optional(campaigns->Find(event.ad_id));
      },
      ClickRatioFold{campaigns});
}

TEST(WindowLoopTest, AnEmptyBlockEmitsNothing) {
  auto loop = WindowLoop<YsbFold>::Create({}, {.window_ms = 1'000, .keys = 10});
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_EQ(LoopTotals(*loop, {}, {.repetitions = 5, .span_ms = 10'000}), Totals{});
}

TEST(WindowLoopTest, AWindowOfLessThanNoLengthIsRefused) {
  EXPECT_EQ(WindowLoop<YsbFold>::Create({}, {.window_ms = -1}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(AccountTableDeathTest, MoreKeysThanItWasMadeForEndTheProcess) {
  absl::StatusOr<AccountTable<CountOf>> table = AccountTable<CountOf>::Create(10);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_DEATH(
      {
        for (std::uint64_t key = 1; key < 2'000; ++key) {
          CountKeys({&key, 1}, *table);
        }
      },
      "more than 614 keys in a window of a hand-written loop");
}

}  // namespace
}  // namespace glaive::queries
