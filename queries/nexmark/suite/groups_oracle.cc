// What a sequential program emits for the queries that choose bids of each group, by sorting all bids of the group.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "queries/nexmark/suite/plain_events.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using Bids = std::vector<PlainBid>;

/// All bids, in groups by what `key_of` makes of a bid.
template <typename Key, typename KeyOf>
absl::Status ReadGroups(const EventFlows& flows, const KeyOf& key_of, std::map<Key, Bids>& groups) {
  return flows.ForEach([&](const events::Event& event, std::int64_t /*watermark_ms*/) {
    if (event.kind == events::Kind::kBid) {
      const PlainBid bid(event);
      groups[key_of(bid)].push_back(bid);
    }
  });
}

}  // namespace

absl::Status RecomputeQ18(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, Bids> groups;
  absl::Status status =
      ReadGroups(flows, [](const PlainBid& bid) { return std::pair(bid.bidder, bid.auction); }, groups);
  for (const auto& [key, bids] : groups) {
    const PlainBid& last = *std::ranges::max_element(
        bids, {}, [](const PlainBid& bid) { return std::tie(bid.time, bid.price, bid.channel, bid.url, bid.extra); });
    emit(LineOf({last.auction, last.bidder, last.price, last.channel, last.url, last.time, last.extra}));
  }
  return status;
}

absl::Status RecomputeQ19(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  std::map<std::uint64_t, Bids> groups;
  absl::Status status = ReadGroups(flows, [](const PlainBid& bid) { return bid.auction; }, groups);
  for (auto& [auction, bids] : groups) {
    std::ranges::sort(bids, std::ranges::greater(), [](const PlainBid& bid) {
      return std::tie(bid.price, bid.time, bid.bidder, bid.channel, bid.url, bid.extra);
    });
    for (std::uint64_t rank = 1; rank <= std::min<std::uint64_t>(10, bids.size()); ++rank) {
      const PlainBid& bid = bids[rank - 1];
      emit(LineOf({bid.auction, bid.bidder, bid.price, bid.channel, bid.url, bid.time, bid.extra, rank}));
    }
  }
  return status;
}

}  // namespace glaive::queries::nexmark::suite
