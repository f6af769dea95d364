#include "queries/nexmark/events/event_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace glaive::queries::nexmark::events {

absl::Status Validate(const EventOptions& options) {
  const auto check = [](const char* option, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    return value >= least && value <= most ? absl::OkStatus()
                                           : absl::InvalidArgumentError(absl::StrCat(
                                                 option, " is ", value, "; it must be from ", least, " to ", most));
  };
  absl::Status status = check("the event rate", options.event_rate, 1, kMostEventRate);
  status.Update(check("the group of events out of order", options.disorder_group, 1, kMostDisorderGroup));
  status.Update(check("the bytes of a person", options.person_bytes, 0, kMostEventBytes));
  status.Update(check("the bytes of an auction", options.auction_bytes, 0, kMostEventBytes));
  status.Update(check("the bytes of a bid", options.bid_bytes, 0, kMostEventBytes));
  status.Update(check("the hot auctions' ratio", options.hot_auction_ratio, 1, kMostRatio));
  status.Update(check("the hot sellers' ratio", options.hot_seller_ratio, 1, kMostRatio));
  status.Update(check("the hot bidders' ratio", options.hot_bidder_ratio, 1, kMostRatio));
  status.Update(check("the number of active people", options.active_people, 1, kMostCount));
  status.Update(check("the number of auctions in flight", options.in_flight_auctions, 1, kMostCount));
  if (options.disorder_group % kDisorderStep == 0) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("the group of events out of order has ", options.disorder_group, " events, a multiple of ",
                     kDisorderStep, ": it would have some of them several times and others never; take one more")));
  }
  return status;
}

std::uint64_t AverageTextBytes(const EventOptions& options) {
  // What a person, an auction or a bid has besides its extra text: numbers, and texts. Short texts take no more bytes.
  constexpr std::uint64_t kPersonNumbers = 8;
  constexpr std::uint64_t kPersonTextBytes = 56;
  constexpr std::uint64_t kAuctionNumbers = 48;
  constexpr std::uint64_t kAuctionTextBytes = 64;
  constexpr std::uint64_t kBidNumbers = 32;
  constexpr std::uint64_t kUrlBytes = 64;
  const auto extra = [&](std::uint64_t bytes, std::uint64_t others, std::uint32_t which) {
    return (options.texts & which) != 0 ? bytes - std::min(bytes, others) : 0;
  };
  const auto texts = [&](std::uint64_t bytes, std::uint32_t which) { return (options.texts & which) != 0 ? bytes : 0; };
  const std::uint64_t person = extra(options.person_bytes, kPersonNumbers + kPersonTextBytes, kOtherExtra) +
                               texts(kPersonTextBytes, kPersonTexts);
  const std::uint64_t auction = extra(options.auction_bytes, kAuctionNumbers + kAuctionTextBytes, kOtherExtra) +
                                texts(kAuctionTextBytes, kAuctionTexts);
  const std::uint64_t bid = extra(options.bid_bytes, kBidNumbers, kBidExtra) + texts(kUrlBytes, kUrl);
  return (person + 3 * auction + 46 * bid) * 105 / (50 * 100) + 1;
}

}  // namespace glaive::queries::nexmark::events
