// Query 22, the folders of URLs.
//
//   SELECT auction, bidder, price, channel,
//          split_index(url, '/', 3) AS dir1, split_index(url, '/', 4) AS dir2, split_index(url, '/', 5) AS dir3
//   FROM bid
#include <optional>
#include <string_view>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q22Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  Text channel;
  std::optional<Text> dir1;
  std::optional<Text> dir2;
  std::optional<Text> dir3;
};
GLAIVE_RECORD(Q22Row, auction, bidder, price, channel, dir1, dir2, dir3)

/// Takes the part before the next slash off the front of what is left; nothing where nothing is left.
std::optional<Text> TakePart(std::optional<std::string_view>& left) {
  if (!left) {
    return std::nullopt;
  }
  const std::size_t slash = left->find('/');
  const Text part = left->substr(0, slash);
  left = slash == std::string_view::npos ? std::nullopt : std::optional(left->substr(slash + 1));
  return part;
}

Q22Row ToQ22Row(const Bid& bid) {
  std::optional<std::string_view> left = bid.url.view();
  for (int before = 0; before < 3; ++before) {
    TakePart(left);
  }
  // Members are initialized in their order.
  return {.auction = bid.auction,
          .bidder = bid.bidder,
          .price = bid.price,
          .channel = bid.channel,
          .dir1 = TakePart(left),
          .dir2 = TakePart(left),
          .dir3 = TakePart(left)};
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ22(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  return engine::From(events).FilterMap(events::BidOf{}).Map(&ToQ22Row).To(results);
}

}  // namespace glaive::queries::nexmark::suite
