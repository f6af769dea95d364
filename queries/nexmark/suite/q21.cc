// Query 21, channel ids.
//
//   SELECT auction, bidder, price, channel,
//          CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2'
//                              WHEN 'baidu' THEN '3'
//                              ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
//   FROM bid
//   WHERE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
//         OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')
#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string_view>

#include "absl/strings/match.h"

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

struct Q21Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  Text channel;
  Text channel_id;
};
GLAIVE_RECORD(Q21Row, auction, bidder, price, channel, channel_id)

/// The id of a channel that is known by its name.
std::optional<Text> KnownId(const Text& channel) {
  const absl::string_view name(channel.view().data(), channel.size());
  return absl::EqualsIgnoreCase(name, "apple")      ? std::optional<Text>("0")
         : absl::EqualsIgnoreCase(name, "google")   ? std::optional<Text>("1")
         : absl::EqualsIgnoreCase(name, "facebook") ? std::optional<Text>("2")
         : absl::EqualsIgnoreCase(name, "baidu")    ? std::optional<Text>("3")
                                                    : std::nullopt;
}

}  // namespace

std::unique_ptr<engine::Query> BuildQ21(const Events& events, const SuiteOptions& /*options*/,
                                        const engine::Results& results) {
  const auto id_in_url = std::make_shared<const RE2>("(?:&|^)channel_id=([^&]*)");
  return engine::From(events)
      .FilterMap(events::BidOf{})
      .FilterMap([id_in_url](const Bid& bid) -> std::optional<Q21Row> {
        std::optional<Text> id = KnownId(bid.channel);
        if (re2::StringPiece found; !id && RE2::PartialMatch(bid.url.view(), *id_in_url, &found)) {
          id = std::string_view(found.data(), found.size());
        }
        return id ? std::optional(Q21Row{bid.auction, bid.bidder, bid.price, bid.channel, *id}) : std::nullopt;
      })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
