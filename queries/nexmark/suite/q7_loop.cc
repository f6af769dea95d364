// Query 7 as a hand-written loop: the bids of the highest price so far, which a higher one replaces.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "queries/loops/loop_query.h"
#include "queries/loops/window_walk.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::EventTime;
using events::Kind;

class HighestBidLoop {
 public:
  using Record = Event;
  using Row = Q7Row;

  explicit HighestBidLoop(std::int64_t window_ms)
      : walk_({.window_ms = window_ms, .most_records = std::numeric_limits<std::size_t>::max()}) {}

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t shift_ms, const Emit& emit) {
    walk_.Take(
        events, shift_ms, EventTime{}, [&](std::span<const Event> chunk) { Add(chunk); },
        [&](std::int64_t /*start_ms*/) { EmitHighest(emit); });
  }

  template <typename Emit>
  void End(const Emit& emit) {
    walk_.End([&](std::int64_t /*start_ms*/) { EmitHighest(emit); });
  }

 private:
  /// Adds events of the current window.
  void Add(std::span<const Event> events) {
    for (const Event& event : events) {
      const auto& [auction, bidder, price, expires, seller, category] = event.numbers;
      if (event.kind != Kind::kBid || price < price_) {
        continue;
      }
      if (price > price_) {
        highest_.clear();
        price_ = price;
      }
      highest_.push_back({auction, bidder, price, event.date_time, event.texts[2]});
    }
  }

  template <typename Emit>
  void EmitHighest(const Emit& emit) {
    for (const Q7Row& bid : highest_) {
      emit(bid);
    }
    highest_.clear();
    price_ = 0;
  }

  WindowWalk walk_;
  std::uint64_t price_ = 0;     // the highest one of the current window
  std::vector<Q7Row> highest_;  // its bids of that price
};

}  // namespace

std::unique_ptr<engine::Query> LoopQ7(const Events& events, const SuiteOptions& options, const MostIds& /*ids*/,
                                      const engine::Results& results) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.highest_bid_window);
  return LoopQueryOver(
      events, /*loop_bytes=*/0, [window_ms] { return absl::StatusOr<HighestBidLoop>(HighestBidLoop(window_ms)); },
      results);
}

}  // namespace glaive::queries::nexmark::suite
