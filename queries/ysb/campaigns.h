// The yahoo profile's advertisements: 100 campaigns of 10 ads each, and the static join from ad to campaign.
//
// The ads are the same in every run, whatever its seed. An ad's id is the first 8 bytes of its UUID: sparse over
// the 64 bits. Campaigns are numbered 1 .. 100.
//
// CampaignTable is immutable after construction and safe to share. It is built once and then only looked up, so it
// hashes without collisions: two loads from 18 KiB and no branch that depends on the ad. Ads that come from elsewhere,
// however many, are stored in a standard hash table.
//
//   CampaignTable campaigns;
//   if (const std::uint64_t campaign = campaigns.Find(event.ad_id); campaign != 0) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/watch.h"

namespace glaive::queries::ysb {

inline constexpr std::uint32_t kCampaigns = 100;
inline constexpr std::uint32_t kAdsPerCampaign = 10;
inline constexpr std::uint32_t kAds = kCampaigns * kAdsPerCampaign;

/// One advertisement.
struct Ad {
  std::array<std::uint8_t, 16> uuid;
  std::uint64_t id;        // the first 8 bytes of `uuid`
  std::uint64_t campaign;  // 1 .. kCampaigns, or of other ads the first 8 bytes of its UUID; not 0
};

/// All ads; ad i belongs to campaign i / kAdsPerCampaign + 1.
std::vector<Ad> AllAds();
/// Their ids and campaigns as a CSV file's text: "ad_id,campaign" and a line for each ad.
std::string AdsAsCsv();

/// Joins ad ids to campaigns; see the head of this file.
class CampaignTable {
 public:
  /// Of AllAds().
  CampaignTable();
  /// Of others, no two of which have the same id; FailedPrecondition when there is none. `watch` may end it.
  static absl::StatusOr<CampaignTable> Of(std::span<const Ad> others, const Watch& watch);

  /// The campaign of `ad_id`, or 0 for an id that is no ad's.
  std::uint64_t Find(std::uint64_t ad_id) const {
    if (!others_.empty()) [[unlikely]] {
      const auto other = others_.find(ad_id);
      return other == others_.end() ? 0 : other->second;
    }
    const Cell& cell = cells_[CellOf(ad_id, displacements_[BucketOf(ad_id)])];
    return cell.ad_id == ad_id ? cell.campaign : 0;
  }

 private:
  static constexpr std::uint32_t kBucketBits = 10;
  static constexpr std::uint32_t kCellBits = 10;

  struct Cell {
    std::uint64_t ad_id = 0;
    std::uint64_t campaign = 0;  // 0: empty
  };

  /// Finds room for the ads of one bucket.
  void Place(const std::vector<Ad>& ads);

  // Ids are bytes of a UUID, so bits are taken from them as they are; these are not among those that UUIDs fix.
  static std::uint32_t BucketOf(std::uint64_t ad_id) {
    return static_cast<std::uint32_t>(ad_id >> 16) & ((1u << kBucketBits) - 1);
  }
  static std::uint32_t CellOf(std::uint64_t ad_id, std::uint32_t displacement) {
    return (static_cast<std::uint32_t>(ad_id) + displacement) & ((1u << kCellBits) - 1);
  }

  std::array<std::uint16_t, 1u << kBucketBits> displacements_{};
  std::array<Cell, 1u << kCellBits> cells_{};
  std::unordered_map<std::uint64_t, std::uint64_t> others_;  // campaigns by ad
};

}  // namespace glaive::queries::ysb
