// Query 17, statistics of auctions. The suite for Flink updates the row of an auction and day with each bid; here is
// the row behind the last bid of the day.
//
//   SELECT auction, date_format(date_time, 'yyyy-MM-dd') AS day, count(*) AS total_bids,
//          count(*) FILTER (price < 10000) AS rank1_bids,
//          count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids,
//          count(*) FILTER (price >= 1000000) AS rank3_bids,
//          min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
//   FROM bid
//   GROUP BY auction, date_format(date_time, 'yyyy-MM-dd')
#include <cstdint>
#include <optional>
#include <tuple>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/common/date_texts.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q17Row {
  std::uint64_t auction;
  Text day;
  std::uint64_t total_bids;
  std::uint64_t rank1_bids;
  std::uint64_t rank2_bids;
  std::uint64_t rank3_bids;
  std::uint64_t min_price;
  std::uint64_t max_price;
  std::uint64_t avg_price;
  std::uint64_t sum_price;
};
GLAIVE_RECORD(Q17Row, auction, day, total_bids, rank1_bids, rank2_bids, rank3_bids, min_price, max_price, avg_price,
              sum_price)

/// What is left of a bid.
struct PriceForAuction {
  std::uint64_t auction;
  std::uint64_t price;
};

using OffersOfDay = engine::WindowResult<
    std::uint64_t, std::tuple<std::uint64_t, absl::int128, absl::int128, std::uint64_t, std::uint64_t, absl::int128>>;

constexpr auto kOfferOf = [](const events::Event& event) {
  return event.kind == events::Kind::kBid ? std::optional(PriceForAuction{event.numbers[0], event.numbers[2]})
                                          : std::nullopt;
};

Q17Row ToQ17Row(const OffersOfDay& day) {
  const auto& [bids, rank1, rank3, least, most, sum] = day.value;
  const auto total = static_cast<std::uint64_t>(sum);
  return {.auction = day.key,
          .day = DayOf(day.window_start_ms),
          .total_bids = bids,
          .rank1_bids = static_cast<std::uint64_t>(rank1),
          .rank2_bids = bids - static_cast<std::uint64_t>(rank1) - static_cast<std::uint64_t>(rank3),
          .rank3_bids = static_cast<std::uint64_t>(rank3),
          .min_price = least,
          .max_price = most,
          .avg_price = total / bids,
          .sum_price = total};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ17(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  const auto is_of_rank1 = [](const PriceForAuction& offer) { return std::uint64_t{offer.price < 10'000}; };
  const auto is_of_rank3 = [](const PriceForAuction& offer) { return std::uint64_t{offer.price >= 1'000'000}; };
  return engine::From(events)
      .FilterMap(kOfferOf)
      .KeyBy(&PriceForAuction::auction)
      .Window(engine::Tumbling{absl::Hours(24)})
      .AllowedLateness(options.allowed_lateness)
      .Aggregate(engine::Several{engine::Count{}, engine::Sum{is_of_rank1}, engine::Sum{is_of_rank3},
                                 engine::Min{&PriceForAuction::price}, engine::Max{&PriceForAuction::price},
                                 engine::Sum{&PriceForAuction::price}})
      .Map(&ToQ17Row)
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
