#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/ysb/ad_file.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::queries::ysb {
namespace {

using engine::Gzip;
using engine::WriteText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kAd = "01000000-0000-0000-8888-000000000001";
constexpr std::string_view kSameIdAsAd = "01000000-0000-0000-9999-000000000001";
constexpr std::string_view kOtherAd = "02000000-0000-0001-8888-000000000001";
constexpr std::string_view kCampaign = "ff000000-0000-0000-8888-000000000001";
constexpr std::string_view kSameIdAsCampaign = "ff000000-0000-0000-8888-000000000002";

/// As Yahoo's generator writes it.
std::string Line(std::string_view ad, std::string_view campaign) {
  return absl::StrCat("{ \"", std::string(ad), "\": \"", std::string(campaign), "\"}\n");
}

class ReadAdsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<Ad>> Read(std::string_view text) { return ReadAds(WriteText(path_, text), GoOn); }

  /// The error for a file of this text, which is of the given line.
  std::string ErrorAt(int line, std::string_view text) {
    const auto ads = Read(text);
    EXPECT_FALSE(ads.ok());
    const std::string error(ads.status().message());
    EXPECT_THAT(error, StartsWith(absl::StrCat(path_.string(), ":", line, ":1: ")));
    return error;
  }

  engine::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "ads.txt";
};

TEST_F(ReadAdsTest, IdsAreTheFirstBytesOfUuids) {
  const std::string text = Line(kAd, kCampaign) + Line(kOtherAd, kCampaign);
  for (const std::string& file : {text, Gzip(text)}) {
    const auto ads = Read(file);
    ASSERT_TRUE(ads.ok()) << ads.status();
    ASSERT_EQ(ads->size(), 2U);
    EXPECT_EQ(ads->front().id, 0x01U);
    EXPECT_EQ(ads->front().campaign, 0xffU);
    EXPECT_EQ(ads->back().id, 0x0100'0000'0000'0002U);
    const auto campaigns = CampaignTable::Of(*ads, GoOn);
    ASSERT_TRUE(campaigns.ok()) << campaigns.status();
    EXPECT_EQ(campaigns->Find(0x01), 0xffU);
    EXPECT_EQ(campaigns->Find(0x0100'0000'0000'0002U), 0xffU);
    EXPECT_EQ(campaigns->Find(0x02), 0U);
    EXPECT_EQ(campaigns->Find(AllAds().front().id), 0U);
  }
}

TEST_F(ReadAdsTest, ALineThatIsNoAdIsNamed) {
  const std::string good = Line(kAd, kCampaign);
  for (const std::string bad : {"what", "[]", "{}", "{\"a\": 1}", "{\"a\": \"b\", \"c\": \"d\"}", "{\"a\": \"b\""}) {
    EXPECT_THAT(ErrorAt(2, absl::StrCat(good, bad, "\n", good)), HasSubstr("no ad with its campaign")) << bad;
  }
  std::string behind_its_end = Line(kOtherAd, kCampaign);
  behind_its_end.back() = '\0';  // by itself the parser would end there
  EXPECT_THAT(ErrorAt(2, good + behind_its_end + "{}\n"), HasSubstr("no ad with its campaign"));
  const std::string twice = absl::StrReplaceAll(R"({"AD": "CAMPAIGN", "AD": "CAMPAIGN"})",
                                                {{"AD", std::string(kOtherAd)}, {"CAMPAIGN", std::string(kCampaign)}});
  EXPECT_THAT(ErrorAt(2, good + twice), HasSubstr("no ad with its campaign"));
  EXPECT_THAT(ErrorAt(2, good + Line(kOtherAd, "ff")), HasSubstr("something other than UUIDs"));
  EXPECT_THAT(ErrorAt(1, Line("00000000-0000-0000-8888-000000000001", kCampaign)), HasSubstr("8 zero bytes"));
}

TEST_F(ReadAdsTest, IdsMustBeDifferent) {
  const std::string good = Line(kAd, kCampaign);
  EXPECT_THAT(ErrorAt(2, good + good), HasSubstr("is there twice"));
  EXPECT_THAT(ErrorAt(2, good + Line(kSameIdAsAd, kCampaign)), HasSubstr("another ad"));
  EXPECT_THAT(ErrorAt(2, good + Line(kOtherAd, kSameIdAsCampaign)), HasSubstr("another campaign"));
}

TEST_F(ReadAdsTest, AFileThatIsEmptyOrNotThereIsNamed) {
  const auto empty = Read("");
  EXPECT_THAT(std::string(empty.status().message()), HasSubstr("has no ads"));
  const auto missing = ReadAds((folder_.path() / "nowhere.txt").string(), GoOn);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("nowhere.txt"));
}

}  // namespace
}  // namespace glaive::queries::ysb
