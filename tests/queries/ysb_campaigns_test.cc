#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "queries/common/random.h"
#include "queries/ysb/campaigns.h"

namespace glaive::queries::ysb {
namespace {

TEST(AllAdsTest, AreAThousandDistinctSparseIdsTenPerCampaign) {
  std::set<std::uint64_t> ids;
  std::map<std::uint64_t, int> ads_of_campaign;
  for (const Ad& ad : AllAds()) {
    ids.insert(ad.id);
    ++ads_of_campaign[ad.campaign];
    std::uint64_t first_half;
    std::memcpy(&first_half, ad.uuid.data(), sizeof(first_half));
    EXPECT_EQ(ad.id, first_half);
    EXPECT_EQ(ad.uuid[6] >> 4, 4);  // UUID version
    EXPECT_EQ(ad.uuid[8] >> 6, 2);  // UUID variant
  }
  EXPECT_EQ(ids.size(), 1'000u);
  // Spread over the whole range: no two neighbours nearer than a thousandth of the mean distance.
  for (auto id = ids.begin(); std::next(id) != ids.end(); ++id) {
    EXPECT_GT(*std::next(id) - *id, UINT64_MAX / 1'000 / 1'000 / 1'000);
  }
  ASSERT_EQ(ads_of_campaign.size(), 100u);
  EXPECT_EQ(ads_of_campaign.begin()->first, 1u);
  EXPECT_EQ(ads_of_campaign.rbegin()->first, 100u);
  for (const auto& [campaign, ads] : ads_of_campaign) {
    EXPECT_EQ(ads, 10) << "campaign " << campaign;
  }
}

TEST(AllAdsTest, AreTheSameInEveryRun) {
  const std::vector<Ad> ads = AllAds();
  EXPECT_EQ(ads.front().id, AllAds().front().id);
  // Pinned: result files of different versions can be compared.
  EXPECT_EQ(ads.front().id, 0x154c70771feac7d6u);
  EXPECT_EQ(ads.back().id, 0xf043be0e9320d78cu);
}

TEST(AllAdsTest, AreALineEachOfCsvText) {
  const std::string text = AdsAsCsv();
  EXPECT_TRUE(text.starts_with("ad_id,campaign\n1534725229965395926,1\n")) << text.substr(0, 80);
  EXPECT_EQ(std::ranges::count(text, '\n'), kAds + 1);
}

TEST(CampaignTableTest, FindsTheCampaignOfEveryAd) {
  const CampaignTable campaigns;
  for (const Ad& ad : AllAds()) {
    EXPECT_EQ(campaigns.Find(ad.id), ad.campaign);
  }
}

TEST(CampaignTableTest, OfNoAdIsRefused) {
  EXPECT_EQ(CampaignTable::Of({}, GoOn).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CampaignTableTest, ItsMakingCanBeEnded) {
  const std::vector<Ad> ads = AllAds();
  const auto table = CampaignTable::Of(ads, [] { return absl::CancelledError("enough"); });
  EXPECT_EQ(table.status(), absl::CancelledError("enough"));
}

TEST(CampaignTableTest, FindsNothingForOtherIds) {
  const CampaignTable campaigns;
  EXPECT_EQ(campaigns.Find(0), 0u);
  EXPECT_EQ(campaigns.Find(UINT64_MAX), 0u);
  for (const Ad& ad : AllAds()) {
    for (int bit = 0; bit < 64; ++bit) {
      EXPECT_EQ(campaigns.Find(ad.id ^ (std::uint64_t{1} << bit)), 0u);
    }
  }
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    EXPECT_EQ(campaigns.Find(Mix(i * kCounterStep)), 0u);
  }
}

}  // namespace
}  // namespace glaive::queries::ysb
