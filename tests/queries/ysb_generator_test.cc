#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_query.h"
#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::ysb {
namespace {

constexpr std::uint64_t kRecords = 60'000;

// Ten million keys, and ten windows.
InputOptions TenWindows() {
  InputOptions input{.keys = {.count = 10'000'000}};
  input.timeline.rate = {.records = kRecords, .span_ms = 10 * kSlashWindowMs};
  return input;
}

std::vector<YsbEvent> Generate(Profile profile, const InputOptions& input, std::uint32_t executor = 0,
                               std::uint64_t records = kRecords) {
  return FirstRecords<YsbEvent>(YsbGenerator(profile, input), records, executor);
}

class YsbGeneratorTest : public testing::TestWithParam<Profile> {};

INSTANTIATE_TEST_SUITE_P(Profiles, YsbGeneratorTest, testing::Values(Profile::kSlash, Profile::kYahoo),
                         [](const auto& profile) { return profile.param == Profile::kSlash ? "slash" : "yahoo"; });

TEST_P(YsbGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  // An awkward rate, so that the event times of a whole Fill and of single records are computed in different ways.
  InputOptions input{.seed = 7, .keys = {.count = 10'000'000}};
  input.timeline.rate = {.records = 7'919, .span_ms = 104'729};
  input.timeline.disorder_ms = 50;
  ExpectAnyPartInAnyOrderIsTheSame<YsbEvent>(YsbGenerator(GetParam(), input));
}

TEST_P(YsbGeneratorTest, SeedsAndExecutorsDrawDifferentRecords) {
  std::set<std::string> users;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::uint32_t executor : {0, 1, 159}) {
      for (const YsbEvent& event : Generate(GetParam(), {.seed = seed}, executor, 1'000)) {
        users.emplace(std::begin(event.user_id), std::end(event.user_id));
      }
    }
  }
  EXPECT_EQ(users.size(), 9'000u);
}

TEST_P(YsbGeneratorTest, EventTimesAreTheTimelines) {
  ExpectEventTimesOfTheTimeline<YsbEvent>(
      [](const InputOptions& input) { return std::make_unique<YsbGenerator>(GetParam(), input); }, YsbEventTime{});
}

TEST_P(YsbGeneratorTest, RecordsCarryTheirNumber) {
  std::vector<YsbEvent> events(10);
  YsbGenerator(GetParam(), {}).Fill(0, std::uint64_t{1} << 40, events);
  EXPECT_EQ(std::uint64_t{events.front().record_number}, std::uint64_t{1} << 40);
  EXPECT_EQ(std::uint64_t{events.back().record_number}, (std::uint64_t{1} << 40) + 9);
}

TEST_P(YsbGeneratorTest, AThirdOfTheRecordsAreViewsAndAdTypesAreEven) {
  std::array<std::uint64_t, kEventTypes> events{};
  std::array<std::uint64_t, kAdTypes> ads{};
  std::array<std::array<std::uint64_t, kAdTypes>, kEventTypes> both{};
  for (const YsbEvent& event : Generate(GetParam(), TenWindows())) {
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

TEST_P(YsbGeneratorTest, TheHotKeyTakesItsShareAmongViewsToo) {
  for (const double share : {0.0, 0.25, 0.9, 1.0}) {
    const std::uint64_t hot_id = GetParam() == Profile::kSlash ? 1 : AllAds().front().id;
    const double cold_share = GetParam() == Profile::kSlash ? 1.0 / 10'000'000 : 1.0 / 1'000;
    std::uint64_t hot = 0;
    std::uint64_t views = 0;
    InputOptions input = TenWindows();
    input.keys.hot_share = share;
    for (const YsbEvent& event : Generate(GetParam(), input)) {
      if (event.event_type == EventType::kView) {
        ++views;
        hot += event.ad_id == hot_id ? 1 : 0;
      }
    }
    ExpectShare(hot, views, share + (1 - share) * cold_share, "hot key");
    ExpectShare(views, kRecords, 1.0 / 3, "views");
  }
}

TEST(YsbGeneratorSlashTest, KeysAreUniformFromOneToTheirNumber) {
  constexpr std::uint64_t kKeys = 50;
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const YsbEvent& event : Generate(Profile::kSlash, {.keys = {.count = kKeys}})) {
    ++counts[std::uint64_t{event.ad_id}];
  }
  ASSERT_EQ(counts.size(), kKeys);
  EXPECT_EQ(counts.begin()->first, 1u);
  EXPECT_EQ(counts.rbegin()->first, kKeys);
  for (const auto& [key, count] : counts) {
    ExpectShare(count, kRecords, 1.0 / kKeys, "key " + std::to_string(key));
  }
}

TEST(YsbGeneratorSlashTest, TenMillionKeysAreHardlyEverRepeatedInAFewRecords) {
  std::set<std::uint64_t> keys;
  std::uint64_t largest = 0;
  for (const YsbEvent& event : Generate(Profile::kSlash, TenWindows())) {
    keys.insert(std::uint64_t{event.ad_id});
    largest = std::max(largest, std::uint64_t{event.ad_id});
  }
  // n - n^2 / (2 * keys) are expected to be distinct: 59,820.
  EXPECT_NEAR(static_cast<double>(keys.size()), 59'820.0, 70.0);
  EXPECT_LE(largest, 10'000'000u);
  EXPECT_GE(*keys.begin(), 1u);
}

TEST(YsbGeneratorSlashTest, OneKeyIsEnough) {
  for (const YsbEvent& event : Generate(Profile::kSlash, {.keys = {.count = 1}}, 0, 100)) {
    EXPECT_EQ(std::uint64_t{event.ad_id}, 1u);
  }
}

TEST(YsbGeneratorYahooTest, EveryRecordNamesOneOfTheAdsByIdAndUuid) {
  std::map<std::uint64_t, Ad> ads;
  for (const Ad& ad : AllAds()) {
    ads.emplace(ad.id, ad);
  }
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const YsbEvent& event : Generate(Profile::kYahoo, TenWindows())) {
    const auto ad = ads.find(std::uint64_t{event.ad_id});
    ASSERT_NE(ad, ads.end());
    EXPECT_EQ(std::memcmp(event.ad_uuid, ad->second.uuid.data(), 16), 0);
    ++counts[ad->second.campaign];
  }
  ASSERT_EQ(counts.size(), 100u);
  for (const auto& [campaign, count] : counts) {
    ExpectShare(count, kRecords, 1.0 / 100, "campaign " + std::to_string(campaign));
  }
}

TEST(YsbGeneratorLawTest, KeysFollowTheLawInBothProfiles) {
  const InputOptions input{.keys = {.count = 1'000, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1}}};
  constexpr double kSum = 7.485470860550343;  // of 1 / k up to 1,000
  const std::vector<Ad> ads = AllAds();
  std::uint64_t slash_second = 0;
  for (const YsbEvent& event : Generate(Profile::kSlash, input)) {
    slash_second += event.ad_id == 2 ? 1 : 0;
  }
  std::uint64_t yahoo_second = 0;
  for (const YsbEvent& event : Generate(Profile::kYahoo, input)) {
    yahoo_second += event.ad_id == ads[1].id ? 1 : 0;
  }
  ExpectShare(slash_second, kRecords, 0.5 / kSum, "key 2");
  ExpectShare(yahoo_second, kRecords, 0.5 / kSum, "the second ad");
}

}  // namespace
}  // namespace glaive::queries::ysb
