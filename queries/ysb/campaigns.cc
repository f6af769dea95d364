#include "queries/ysb/campaigns.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

#include "queries/common/random.h"
#include "queries/ysb/uuid.h"
#include "rdma/base/check.h"

namespace glaive::queries::ysb {
namespace {

constexpr std::size_t kAddedUnwatched = std::size_t{1} << 16;
constexpr std::uint64_t kUuidSalt = 0x59534241445f4944;  // arbitrary, but part of the input's definition

}  // namespace

std::vector<Ad> AllAds() {
  std::vector<Ad> ads(kAds);
  for (std::uint32_t i = 0; i < kAds; ++i) {
    Ad& ad = ads[i];
    const std::uint64_t halves[2] = {Mix(kUuidSalt + (2 * i) * kCounterStep),
                                     Mix(kUuidSalt + (2 * i + 1) * kCounterStep)};
    std::memcpy(ad.uuid.data(), halves, sizeof(halves));
    ad.uuid[6] = static_cast<std::uint8_t>((ad.uuid[6] & 0x0f) | 0x40);  // version 4: random
    ad.uuid[8] = static_cast<std::uint8_t>((ad.uuid[8] & 0x3f) | 0x80);  // variant of RFC 4122
    ad.id = IdOf(ad.uuid);
    ad.campaign = i / kAdsPerCampaign + 1;
  }
  return ads;
}

std::string AdsAsCsv() {
  std::string text = "ad_id,campaign\n";
  for (const Ad& ad : AllAds()) {
    absl::StrAppend(&text, ad.id, ",", ad.campaign, "\n");
  }
  return text;
}

// Hash and displace: the ads of a bucket move together to where all of them find free cells, the fullest buckets
// first. The last ones hold a single ad, which fits wherever a cell is left.
CampaignTable::CampaignTable() {
  std::vector<std::vector<Ad>> buckets(displacements_.size());
  for (const Ad& ad : AllAds()) {
    buckets[BucketOf(ad.id)].push_back(ad);
  }
  std::ranges::stable_sort(buckets, std::ranges::greater{}, [](const std::vector<Ad>& ads) { return ads.size(); });
  for (const std::vector<Ad>& ads : buckets) {
    if (!ads.empty()) {
      Place(ads);
    }
  }
}

absl::StatusOr<CampaignTable> CampaignTable::Of(std::span<const Ad> others, const Watch& watch) {
  if (others.empty()) {
    return absl::FailedPreconditionError("there is no ad");
  }
  CampaignTable table;
  for (const Ad& ad : others) {
    if (absl::Status status = table.others_.size() % kAddedUnwatched == 0 ? watch() : absl::OkStatus(); !status.ok()) {
      return status;
    }
    table.others_.emplace(ad.id, ad.campaign);
  }
  return table;
}

void CampaignTable::Place(const std::vector<Ad>& ads) {
  for (std::uint32_t displacement = 0; displacement < cells_.size(); ++displacement) {
    const auto is_free = [&](const Ad& ad) { return cells_[CellOf(ad.id, displacement)].campaign == 0; };
    if (!std::ranges::all_of(ads, is_free)) {
      continue;
    }
    for (const Ad& ad : ads) {
      cells_[CellOf(ad.id, displacement)] = {.ad_id = ad.id, .campaign = ad.campaign};
    }
    displacements_[BucketOf(ads.front().id)] = static_cast<std::uint16_t>(displacement);
    return;
  }
  GLAIVE_CHECK(false, "no room for the ", ads.size(), " ads of bucket ", BucketOf(ads.front().id));
}

}  // namespace glaive::queries::ysb
