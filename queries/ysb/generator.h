// YsbGenerator: the benchmark's events; see queries/common/generator.h. Every field is drawn by hashing a counter.
//
// Profiles:
//   slash  ad_id from 1 .. keys (never 0), as the options' distribution says; counted per ad_id.
//   yahoo  ad_id one of the 1,000 sparse ids of campaigns.h, by the same distribution; joined to 100 campaigns, counted
//          per campaign.
// Both: event_type and ad_type uniform, so one record in three is a view.
//
//   YsbGenerator generator(Profile::kSlash, {.keys = {.count = 10'000'000}});
//   generator.Fill(executor, /*first=*/0, events);
#pragma once

#include <cstdint>
#include <vector>

#include "queries/common/generator.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

enum class Profile : std::uint8_t { kSlash, kYahoo };

inline constexpr std::int64_t kSlashWindowMs = 600'000;
inline constexpr std::int64_t kYahooWindowMs = 10'000;

/// See the head of this file.
class YsbGenerator final : public DrawnGenerator<YsbEvent, 6> {
 public:
  /// `options` must be valid. The yahoo profile has keys of its own: their number is not read.
  YsbGenerator(Profile profile, const InputOptions& options);

 private:
  YsbEvent Make(std::int64_t event_time_ms, const Draws& draw) const override;

  std::vector<Ad> ads_;  // yahoo only
};

}  // namespace glaive::queries::ysb
