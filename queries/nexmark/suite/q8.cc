// Query 8, new users: who registers and opens an auction in the same 10 s.
//
//   SELECT p.id, p.name, p.starttime
//   FROM (SELECT id, name, window_start AS starttime FROM TUMBLE(person, date_time, 10 s) GROUP BY id, name,
//   window_start) p JOIN (SELECT seller, window_start AS starttime FROM TUMBLE(auction, date_time, 10 s) GROUP BY
//   seller, window_start) a
//     ON p.id = a.seller AND p.starttime = a.starttime
#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Person;

using AuctionsOfSeller = engine::WindowResult<std::uint64_t, std::uint64_t>;
using NewSeller = engine::WindowResult<std::uint64_t, std::tuple<Text, std::uint64_t>>;

constexpr auto kSellerOf = [](const events::Event& event) {
  const std::optional<events::Auction> auction = events::AuctionOf{}(event);
  return auction ? std::optional(auction->seller) : std::nullopt;
};

}  // namespace

std::unique_ptr<engine::Query> BuildQ8(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results) {
  const engine::Tumbling window{options.new_users_window};
  const auto all = engine::From(events);
  return engine::Join(engine::Stream(all).FilterMap(events::PersonOf{}),
                      engine::Stream(all)
                          .FilterMap(kSellerOf)
                          .KeyBy([](std::uint64_t seller) { return seller; })
                          .Window(window)
                          .AllowedLateness(options.allowed_lateness)
                          .Aggregate(engine::Count{}))
      .On(&Person::id, &AuctionsOfSeller::key)
      .Window(window)
      .AllowedLateness(options.allowed_lateness)
      .Keep(&Person::name, &AuctionsOfSeller::value)
      .Map([](const NewSeller& seller) { return Q8Row{seller.key, std::get<0>(seller.value), seller.window_start_ms}; })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
