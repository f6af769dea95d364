// Query 7, highest bid: the bids of the highest price in each 10 s, with all that tie.
//
//   SELECT auction, bidder, price, date_time, extra
//   FROM bid JOIN (SELECT max(price) AS price, window_start FROM TUMBLE(bid, date_time, 10 s) GROUP BY window_start)
//            USING (price, window_start)
//
// A bid is no row if its executor has read a higher one of the same window. So each executor drops such bids as it
// reads them, and the state of a window has the few others.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;

using HighestBid = engine::WindowResult<engine::AllRecords, Q7Row>;

/// The highest price that an executor has read so far of each of the latest windows.
class HighestPrices {
 public:
  /// Whether a bid may be a row: it is the highest one of its window so far, or the window is older than those here.
  bool IsHighest(std::int64_t time_ms, std::uint64_t price, std::int64_t window_ms) {
    for (OfWindow& window : windows_) {
      if (time_ms >= window.start_ms && time_ms < window.end_ms) {
        const bool is_highest = price >= window.price;
        window.price = std::max(window.price, price);
        return is_highest;
      }
    }
    OfWindow& oldest = *std::ranges::min_element(windows_, {}, &OfWindow::start_ms);
    if (time_ms >= oldest.start_ms) {
      const std::int64_t start_ms = time_ms - time_ms % window_ms;
      oldest = {.start_ms = start_ms, .end_ms = start_ms + window_ms, .price = price};
    }
    return true;
  }

 private:
  struct OfWindow {
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    std::uint64_t price = 0;
  };
  std::array<OfWindow, 4> windows_;
};

/// The bids of the highest price, of at least one bid.
std::vector<Q7Row> HighestOf(engine::TimeWindow /*window*/, std::span<const Q7Row> bids) {
  const std::uint64_t price = std::ranges::max(bids, {}, &Q7Row::price).price;
  std::vector<Q7Row> highest;
  std::ranges::copy_if(bids, std::back_inserter(highest), [price](const Q7Row& bid) { return bid.price == price; });
  return highest;
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ7(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.highest_bid_window);
  const auto if_highest = [window_ms](HighestPrices& highest, const Event& event) {
    const auto [auction, bidder, price, expires, seller, category] = event.numbers;
    const bool may_be_row = event.kind == events::Kind::kBid && highest.IsHighest(event.date_time, price, window_ms);
    return may_be_row ? std::optional(Q7Row{auction, bidder, price, event.date_time, event.texts[2]}) : std::nullopt;
  };
  return engine::From(events)
      .RichFilterMap(HighestPrices{}, if_highest)
      .Window(engine::Tumbling{options.highest_bid_window})
      .AllowedLateness(options.allowed_lateness)
      .Process(&HighestOf)
      .Map([](const HighestBid& window) { return window.value; })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
