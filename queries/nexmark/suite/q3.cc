// Query 3, local items: who sells in Oregon, Idaho or California in category 10, and which auctions.
//
//   SELECT p.name, p.city, p.state, a.id
//   FROM auction AS a JOIN person AS p ON a.seller = p.id
//   WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
#include <cstdint>
#include <tuple>

#include "absl/strings/match.h"

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Auction;
using events::Person;

/// What is kept of a seller.
struct Place {
  Text name;
  Text city;
  Text state;
};
GLAIVE_RECORD(Place, name, city, state)

struct Q3Row {
  Text name;
  Text city;
  Text state;
  std::uint64_t id;
};
GLAIVE_RECORD(Q3Row, name, city, state, id)

using AuctionAtPlace = engine::WindowResult<std::uint64_t, std::tuple<std::uint64_t, Place>>;

/// Small letters are as good: the crate of Renoir's profile has them.
bool IsLocal(const Person& person) {
  const absl::string_view state(person.state.view().data(), person.state.size());
  return absl::EqualsIgnoreCase(state, "OR") || absl::EqualsIgnoreCase(state, "ID") ||
         absl::EqualsIgnoreCase(state, "CA");
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ3(const Events& events, const SuiteOptions& /*options*/,
                                       const engine::Results& results) {
  const auto all = engine::From(events);
  return engine::Join(engine::Stream(all).FilterMap(events::AuctionOf{}).Filter([](const Auction& auction) {
           return auction.category == 10;
         }),
                      engine::Stream(all).FilterMap(events::PersonOf{}).Filter(&IsLocal))
      .On(&Auction::seller, &Person::id)
      .Window(engine::Unbounded{})
      .Keep(&Auction::id, [](const Person& person) { return Place{person.name, person.city, person.state}; })
      .Map([](const AuctionAtPlace& result) {
        const auto& [auction, place] = result.value;
        return Q3Row{place.name, place.city, place.state, auction};
      })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
