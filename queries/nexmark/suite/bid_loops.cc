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

class InEurosLoop {
 public:
  using Record = Event;
  using Row = Q1Row;

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t /*shift_ms*/, const Emit& emit) const {
    for (const Event& event : events) {
      if (event.kind == Kind::kBid) {
        const auto& [auction, bidder, price, expires, seller, category] = event.numbers;
        emit(Q1Row{auction, bidder, InEuros(price), event.date_time, event.texts[2]});
      }
    }
  }
  template <typename Emit>
  void End(const Emit& /*emit*/) const {}
};

class SelectionLoop {
 public:
  using Record = Event;
  using Row = Q2Row;

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t /*shift_ms*/, const Emit& emit) const {
    for (const Event& event : events) {
      if (event.kind == Kind::kBid && event.numbers[0] % 123 == 0) {
        emit(Q2Row{.auction = event.numbers[0], .price = event.numbers[2]});
      }
    }
  }
  template <typename Emit>
  void End(const Emit& /*emit*/) const {}
};

template <typename Loop>
std::unique_ptr<engine::Query> LoopOver(const Events& events, const engine::Results& results) {
  return LoopQueryOver(events, /*loop_bytes=*/0, [] { return absl::StatusOr<Loop>(Loop()); }, results);
}

}  // namespace

std::unique_ptr<engine::Query> LoopQ1(const Events& events, const SuiteOptions& /*options*/, const MostIds& /*ids*/,
                                      const engine::Results& results) {
  return LoopOver<InEurosLoop>(events, results);
}

std::unique_ptr<engine::Query> LoopQ2(const Events& events, const SuiteOptions& /*options*/, const MostIds& /*ids*/,
                                      const engine::Results& results) {
  return LoopOver<SelectionLoop>(events, results);
}

}  // namespace glaive::queries::nexmark::suite
