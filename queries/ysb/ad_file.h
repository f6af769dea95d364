// ReadAds: which campaign each advertisement belongs to, as the Yahoo Streaming Benchmark's own generator writes it to
// ad-to-campaign-ids.txt: a line for each ad, plain or gzip.
//
//   {"<UUID of the ad>": "<UUID of the campaign>"}
//
// Ids are the first 8 bytes of UUIDs, as in the events that ParseYsbJson reads.
//
//   absl::StatusOr<std::vector<Ad>> ads = ReadAds("ad-to-campaign-ids.txt", watch);
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "queries/ysb/campaigns.h"
#include "rdma/base/watch.h"

namespace glaive::queries::ysb {

/// In the file's order, at least one. FailedPrecondition with FILE:LINE:COLUMN when a line is no such object, an ad is
/// there twice, or two ads or two campaigns have the same id; the errors of InputFile when the file cannot be read.
/// `watch` may end it.
absl::StatusOr<std::vector<Ad>> ReadAds(const std::string& path, const Watch& watch);

}  // namespace glaive::queries::ysb
