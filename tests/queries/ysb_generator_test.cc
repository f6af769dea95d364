#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/ysb/generator.h"

namespace glaive::queries::ysb {
namespace {

constexpr std::uint64_t kRecords = 60'000;
constexpr EventRate kRate{.records = kRecords, .span_ms = 10 * kSlashWindowMs};

std::vector<YsbEvent> Generate(const GeneratorOptions& options, std::uint32_t executor = 0,
                               std::uint64_t records = kRecords) {
  std::vector<YsbEvent> events(records);
  Generator(options).Fill(executor, 0, events);
  return events;
}

bool SameBytes(const YsbEvent& a, const YsbEvent& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// `count` of `draws` draws with probability `share` is within five standard deviations of what is expected.
void ExpectShare(std::uint64_t count, std::uint64_t draws, double share, const std::string& what) {
  const double mean = static_cast<double>(draws) * share;
  const double deviation = std::sqrt(mean * (1 - share));
  EXPECT_NEAR(static_cast<double>(count), mean, 5 * deviation) << what;
}

class GeneratorTest : public testing::TestWithParam<Profile> {};

INSTANTIATE_TEST_SUITE_P(Profiles, GeneratorTest, testing::Values(Profile::kSlash, Profile::kYahoo),
                         [](const auto& profile) { return profile.param == Profile::kSlash ? "slash" : "yahoo"; });

TEST_P(GeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  // An awkward rate, so that the event times of a Fill and of an At are computed in different ways.
  const Generator generator({.profile = GetParam(), .seed = 7, .rate = {.records = 7'919, .span_ms = 104'729}});
  std::vector<YsbEvent> whole(10'000);
  generator.Fill(3, 0, whole);
  for (std::uint64_t number = whole.size(); number-- > 0;) {
    EXPECT_TRUE(SameBytes(whole[number], generator.At(3, number))) << "record " << number;
  }
  std::vector<YsbEvent> part(100);
  for (const std::uint64_t first : {0, 1, 4'321, 9'900}) {
    generator.Fill(3, first, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first), SameBytes))
        << "first " << first;
  }
}

TEST_P(GeneratorTest, SeedsAndExecutorsDrawDifferentRecords) {
  std::set<std::string> users;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::uint32_t executor : {0, 1, 159}) {
      for (const YsbEvent& event : Generate({.profile = GetParam(), .seed = seed, .rate = kRate}, executor, 1'000)) {
        users.emplace(std::begin(event.user_id), std::end(event.user_id));
      }
    }
  }
  EXPECT_EQ(users.size(), 9'000u);
}

TEST_P(GeneratorTest, EventTimeRisesEvenlyFromTheStartAndABlockSpansExactlyTheRate) {
  const Generator generator({.profile = GetParam(), .rate = kRate});
  EXPECT_EQ(generator.start_time_ms() % kSlashWindowMs, 0);
  std::int64_t last_ms = generator.start_time_ms();
  for (const YsbEvent& event : Generate(generator.options())) {
    const std::int64_t event_time_ms = event.event_time_ms;
    EXPECT_GE(event_time_ms, last_ms);
    EXPECT_LE(event_time_ms, last_ms + 100);  // 10 windows in 60,000 records
    last_ms = event_time_ms;
  }
  EXPECT_EQ(generator.EventTimeMs(0), generator.start_time_ms());
  EXPECT_LT(generator.EventTimeMs(kRecords - 1), generator.start_time_ms() + kRate.span_ms);
  EXPECT_EQ(generator.EventTimeMs(kRecords), generator.start_time_ms() + kRate.span_ms);
  EXPECT_EQ(generator.EventTimeMs(1'000 * kRecords), generator.start_time_ms() + 1'000 * kRate.span_ms);
}

TEST_P(GeneratorTest, RecordsCarryTheirNumber) {
  std::vector<YsbEvent> events(10);
  Generator({.profile = GetParam()}).Fill(0, std::uint64_t{1} << 40, events);
  EXPECT_EQ(std::uint64_t{events.front().record_number}, std::uint64_t{1} << 40);
  EXPECT_EQ(std::uint64_t{events.back().record_number}, (std::uint64_t{1} << 40) + 9);
}

TEST_P(GeneratorTest, AThirdOfTheRecordsAreViewsAndAdTypesAreEven) {
  std::array<std::uint64_t, kEventTypes> events{};
  std::array<std::uint64_t, kAdTypes> ads{};
  std::array<std::array<std::uint64_t, kAdTypes>, kEventTypes> both{};
  for (const YsbEvent& event : Generate({.profile = GetParam(), .rate = kRate})) {
    const auto event_type = static_cast<std::size_t>(event.event_type);
    const auto ad_type = static_cast<std::size_t>(event.ad_type);
    ASSERT_LT(event_type, kEventTypes);
    ASSERT_LT(ad_type, kAdTypes);
    ++events[event_type];
    ++ads[ad_type];
    ++both[event_type][ad_type];
  }
  for (std::size_t event_type = 0; event_type < kEventTypes; ++event_type) {
    ExpectShare(events[event_type], kRecords, 1.0 / 3, "event type");
    for (const std::uint64_t count : both[event_type]) {
      ExpectShare(count, kRecords, 1.0 / 15, "event type and ad type");
    }
  }
  for (const std::uint64_t count : ads) {
    ExpectShare(count, kRecords, 1.0 / 5, "ad type");
  }
}

TEST_P(GeneratorTest, TheHotKeyTakesItsShareAmongViewsToo) {
  for (const double share : {0.0, 0.25, 0.9, 1.0}) {
    const std::uint64_t hot_id = GetParam() == Profile::kSlash ? 1 : AllAds().front().id;
    const double cold_share = GetParam() == Profile::kSlash ? 1.0 / 10'000'000 : 1.0 / 1'000;
    std::uint64_t hot = 0;
    std::uint64_t views = 0;
    for (const YsbEvent& event : Generate({.profile = GetParam(), .rate = kRate, .hot_key_share = share})) {
      if (event.event_type == EventType::kView) {
        ++views;
        hot += event.ad_id == hot_id ? 1 : 0;
      }
    }
    ExpectShare(hot, views, share + (1 - share) * cold_share, "hot key");
    ExpectShare(views, kRecords, 1.0 / 3, "views");
  }
}

TEST(GeneratorSlashTest, KeysAreUniformFromOneToTheirNumber) {
  constexpr std::uint64_t kKeys = 50;
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const YsbEvent& event : Generate({.keys = kKeys, .rate = kRate})) {
    ++counts[event.ad_id];
  }
  ASSERT_EQ(counts.size(), kKeys);
  EXPECT_EQ(counts.begin()->first, 1u);
  EXPECT_EQ(counts.rbegin()->first, kKeys);
  for (const auto& [key, count] : counts) {
    ExpectShare(count, kRecords, 1.0 / kKeys, "key " + std::to_string(key));
  }
}

TEST(GeneratorSlashTest, TenMillionKeysAreHardlyEverRepeatedInAFewRecords) {
  std::set<std::uint64_t> keys;
  std::uint64_t largest = 0;
  for (const YsbEvent& event : Generate({.rate = kRate})) {
    keys.insert(event.ad_id);
    largest = std::max<std::uint64_t>(largest, event.ad_id);
  }
  // n - n^2 / (2 * keys) are expected to be distinct: 59,820.
  EXPECT_NEAR(static_cast<double>(keys.size()), 59'820.0, 70.0);
  EXPECT_LE(largest, 10'000'000u);
  EXPECT_GE(*keys.begin(), 1u);
}

TEST(GeneratorSlashTest, OneKeyIsEnough) {
  for (const YsbEvent& event : Generate({.keys = 1, .rate = kRate}, 0, 100)) {
    EXPECT_EQ(std::uint64_t{event.ad_id}, 1u);
  }
}

TEST(GeneratorYahooTest, EveryRecordNamesOneOfTheAdsByIdAndUuid) {
  std::map<std::uint64_t, Ad> ads;
  for (const Ad& ad : AllAds()) {
    ads.emplace(ad.id, ad);
  }
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const YsbEvent& event : Generate({.profile = Profile::kYahoo, .rate = kRate})) {
    const auto ad = ads.find(event.ad_id);
    ASSERT_NE(ad, ads.end());
    EXPECT_EQ(std::memcmp(event.ad_uuid, ad->second.uuid.data(), 16), 0);
    ++counts[ad->second.campaign];
  }
  ASSERT_EQ(counts.size(), 100u);
  for (const auto& [campaign, count] : counts) {
    ExpectShare(count, kRecords, 1.0 / 100, "campaign " + std::to_string(campaign));
  }
}

TEST(GeneratorOptionsTest, TheStartIsRoundedDownToAWindow) {
  const Generator generator({.rate = kRate, .window_ms = 7'000, .start_time_ms = 20'999});
  EXPECT_EQ(generator.start_time_ms(), 14'000);
  EXPECT_EQ(generator.At(0, 0).event_time_ms, 14'000);
}

TEST(GeneratorOptionsTest, WhatIsOutOfRangeIsRefusedByName) {
  const auto message = [](const GeneratorOptions& options) { return Validate(options).ToString(); };
  EXPECT_TRUE(Validate({}).ok());
  EXPECT_THAT(message({.keys = 0}), testing::HasSubstr("the number of keys is 0; it must be from 1 to"));
  EXPECT_THAT(message({.keys = UINT64_MAX}), testing::HasSubstr("the number of keys"));
  EXPECT_THAT(message({.rate = {.records = 0}}), testing::HasSubstr("number of records is 0"));
  EXPECT_THAT(message({.rate = {.span_ms = 0}}), testing::HasSubstr("span in ms is 0"));
  EXPECT_THAT(message({.window_ms = 0}), testing::HasSubstr("the window in ms is 0"));
  EXPECT_THAT(message({.window_ms = -5}), testing::HasSubstr("the window in ms is -5"));
  EXPECT_THAT(message({.start_time_ms = -1}), testing::HasSubstr("the start time in ms is -1"));
  EXPECT_THAT(message({.hot_key_share = 1.5}), testing::HasSubstr("the hot key's share is 1.5"));
  EXPECT_THAT(message({.hot_key_share = std::nan("")}), testing::HasSubstr("the hot key's share is nan"));
}

}  // namespace
}  // namespace glaive::queries::ysb
