// Query 5, hot items: the auctions with the most bids in the last 10 s, every 2 s, with all that tie.
//
//   WITH counts AS (SELECT auction, count(*) AS num, window_start, window_end
//                   FROM HOP(bid, date_time, 2 s, 10 s) GROUP BY auction, window_start, window_end)
//   SELECT auction, num, window_start, window_end
//   FROM counts JOIN (SELECT max(num) AS num, window_start, window_end FROM counts GROUP BY window_start, window_end)
//               USING (num, window_start, window_end)
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using engine::Tumbling;
using CountOfAuction = engine::WindowResult<std::uint64_t, std::uint64_t>;
using Most = engine::WindowResult<engine::AllRecords, std::uint64_t>;
using HotAuction = engine::WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;
using LeastHotAuction = engine::WindowResult<engine::AllRecords, std::tuple<std::uint64_t, std::uint64_t>>;

constexpr auto kAuctionOfBid = [](const events::Event& event) {
  return event.kind == events::Kind::kBid ? std::optional(event.numbers[0]) : std::nullopt;
};

}  // namespace

std::unique_ptr<engine::Query> BuildQ5(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.hot_items_window);
  // The counts of a window have its end as their time: windows as long as the slide have those of one alone.
  const Tumbling one_window{options.hot_items_slide};
  const auto counts = engine::From(events)
                          .FilterMap(kAuctionOfBid)
                          .KeyBy([](std::uint64_t auction) { return auction; })
                          .Window(engine::Sliding{options.hot_items_window, options.hot_items_slide})
                          .AllowedLateness(options.allowed_lateness)
                          .Aggregate(engine::Count{});
  auto hot = engine::Join(engine::Stream(counts),
                          engine::Stream(counts).Window(one_window).Aggregate(engine::Max{&CountOfAuction::value}))
                 .On(&CountOfAuction::value, &Most::value)
                 .Window(one_window)
                 .Keep(&CountOfAuction::key, &Most::value);
  const auto to_row = [window_ms](const auto& result) {
    const auto& [auction, num] = result.value;
    return Q5Row{auction, num, result.window_end_ms - window_ms, result.window_end_ms};
  };
  if (!options.one_hot_item) {
    return std::move(hot).Map([to_row](const HotAuction& result) { return to_row(result); }).To(results);
  }
  return std::move(hot)
      .Window(one_window)
      .Aggregate(engine::Several{engine::Min{[](const HotAuction& result) { return std::get<0>(result.value); }},
                                 engine::Max{&HotAuction::key}})
      .Map([to_row](const LeastHotAuction& result) { return to_row(result); })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
