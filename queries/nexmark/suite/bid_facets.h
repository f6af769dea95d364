// BidsByDay: how many bids, bidders and auctions there are in each group of bids and day, of all prices and in three
// ranks of prices. Queries 15 and 16 show them.
//
//   BidsByDay(events, lateness, [](const Bid& bid) { return bid.channel; })   // streams DayOfGroup
//
// A bid has four facets: its bidder and its auction, each among all bids and among those of its rank. A first stage
// counts the bids of each facet and, exactly, the different ids; a second one puts the facets of a group together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "engine/steps/fold.h"
#include "queries/nexmark/suite/query_definition.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {

/// 0: of all bids; 1: below 10,000 cents; 2: below 1,000,000; 3: others.
inline constexpr std::size_t kRanks = 4;

inline std::uint64_t RankOf(std::uint64_t price) { return price < 10'000 ? 1 : price < 1'000'000 ? 2 : 3; }

/// Facets 0 to 3 are bidders by rank, 4 to 7 auctions by rank.
struct FacetOfGroup {
  Text group;
  std::uint64_t facet;
  bool operator==(const FacetOfGroup&) const = default;
};
GLAIVE_RECORD(FacetOfGroup, group, facet)

struct BidFacet {
  FacetOfGroup of;
  std::uint64_t id;  // of the bidder or the auction
  std::int64_t date_time;
};
GLAIVE_RECORD(BidFacet, of, id, date_time)

using CountedFacet = engine::WindowResult<FacetOfGroup, std::tuple<std::uint64_t, std::uint64_t, std::int64_t>>;

/// What the first stage finds of a facet.
struct FacetCounts {
  FacetOfGroup of;
  std::uint64_t bids;
  std::uint64_t ids;  // different ones
  std::int64_t latest_ms;
};
GLAIVE_RECORD(FacetCounts, of, bids, ids, latest_ms)

inline FacetCounts ToFacetCounts(const CountedFacet& counted) {
  const auto& [bids, ids, latest_ms] = counted.value;
  return {.of = counted.key, .bids = bids, .ids = ids, .latest_ms = latest_ms};
}

/// What a group has in a day; arrays are by rank.
struct DayOfBids {
  std::int64_t latest_ms = 0;
  std::array<std::uint64_t, kRanks> bids{};
  std::array<std::uint64_t, kRanks> bidders{};
  std::array<std::uint64_t, kRanks> auctions{};
  bool operator==(const DayOfBids&) const = default;
};

using DayOfGroup = engine::WindowResult<Text, DayOfBids>;

inline void AddFacet(DayOfBids& day, const FacetCounts& counts) {
  const std::uint64_t rank = counts.of.facet % kRanks;
  day.latest_ms = std::max(day.latest_ms, counts.latest_ms);
  if (counts.of.facet < kRanks) {
    day.bids[rank] += counts.bids;
    day.bidders[rank] += counts.ids;
  } else {
    day.auctions[rank] += counts.ids;
  }
}

inline void AddDay(DayOfBids& day, const DayOfBids& other) {
  day.latest_ms = std::max(day.latest_ms, other.latest_ms);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    day.bids[rank] += other.bids[rank];
    day.bidders[rank] += other.bidders[rank];
    day.auctions[rank] += other.auctions[rank];
  }
}

/// Writes a day's counts into the columns of a row that are called so.
template <typename Row>
void SetCounts(Row& row, const DayOfBids& day) {
  std::tie(row.total_bids, row.rank1_bids, row.rank2_bids, row.rank3_bids) = std::tuple_cat(day.bids);
  std::tie(row.total_bidders, row.rank1_bidders, row.rank2_bidders, row.rank3_bidders) = std::tuple_cat(day.bidders);
  std::tie(row.total_auctions, row.rank1_auctions, row.rank2_auctions, row.rank3_auctions) =
      std::tuple_cat(day.auctions);
}

/// `group_of` says which text a bid is grouped by.
template <typename GroupOf>
auto BidsByDay(const Events& events, absl::Duration allowed_lateness, const GroupOf& group_of) {
  const engine::Tumbling day{absl::Hours(24)};
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .FlatMap([group_of](const events::Bid& bid) {
        const Text group = group_of(bid);
        const std::uint64_t rank = RankOf(bid.price);
        return std::array{BidFacet{{group, 0}, bid.bidder, bid.date_time},
                          BidFacet{{group, rank}, bid.bidder, bid.date_time},
                          BidFacet{{group, kRanks}, bid.auction, bid.date_time},
                          BidFacet{{group, kRanks + rank}, bid.auction, bid.date_time}};
      })
      .KeyBy(&BidFacet::of)
      .Window(day)
      .AllowedLateness(allowed_lateness)
      .Aggregate(engine::Several{engine::Count{}, engine::Distinct{&BidFacet::id}, engine::Max{&BidFacet::date_time}})
      .Map(&ToFacetCounts)
      .KeyBy([](const FacetCounts& counts) { return counts.of.group; })
      .Window(day)
      .Aggregate(engine::FoldAssoc(
          DayOfBids{}, [](DayOfBids& sum, const FacetCounts& counts) { AddFacet(sum, counts); },
          [](DayOfBids& sum, const DayOfBids& other) { AddDay(sum, other); }));
}

}  // namespace glaive::queries::nexmark::suite
