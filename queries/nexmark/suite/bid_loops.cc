// Queries 1 and 2 as hand-written loops: a pass over the events, in which a bid becomes a row or does not.
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

#include "queries/loops/loop_query.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"
#include "queries/nexmark/suite/thousandths.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::Kind;

/// Calls `ToRow()(event, emit)` for each event.
template <typename ToRow>
class EventLoop {
 public:
  using Record = Event;
  using Row = typename ToRow::Row;

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t /*shift_ms*/, const Emit& emit) const {
    for (const Event& event : events) {
      ToRow()(event, emit);
    }
  }
  template <typename Emit>
  void End(const Emit& /*emit*/) const {}
};

struct BidInEuros {
  using Row = Q1Row;

  template <typename Emit>
  void operator()(const Event& event, const Emit& emit) const {
    if (event.kind == Kind::kBid) {
      const auto& [auction, bidder, price, expires, seller, category] = event.numbers;
      emit(Row{auction, bidder, InEuros(price), event.date_time, event.texts[2]});
    }
  }
};

struct SelectedBid {
  using Row = Q2Row;

  template <typename Emit>
  void operator()(const Event& event, const Emit& emit) const {
    if (event.kind == Kind::kBid && event.numbers[0] % 123 == 0) {
      emit(Row{.auction = event.numbers[0], .price = event.numbers[2]});
    }
  }
};

template <typename ToRow>
std::unique_ptr<engine::Query> LoopOver(const Events& events, const engine::Results& results) {
  using Loop = EventLoop<ToRow>;
  return LoopQueryOver(events, /*loop_bytes=*/0, [] { return absl::StatusOr<Loop>(Loop()); }, results);
}

}  // namespace

std::unique_ptr<engine::Query> LoopQ1(const Events& events, const SuiteOptions& /*options*/, const MostIds& /*ids*/,
                                      const engine::Results& results) {
  return LoopOver<BidInEuros>(events, results);
}

std::unique_ptr<engine::Query> LoopQ2(const Events& events, const SuiteOptions& /*options*/, const MostIds& /*ids*/,
                                      const engine::Results& results) {
  return LoopOver<SelectedBid>(events, results);
}

}  // namespace glaive::queries::nexmark::suite
