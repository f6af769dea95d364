#include "queries/nexmark/events/renoir_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include "queries/common/random.h"
#include "queries/nexmark/events/names.h"
#include "queries/nexmark/events/numbering.h"
#include "rdma/base/check.h"

namespace glaive::queries::nexmark::events {
namespace {

template <std::size_t kCount>
std::string DrawLowerOf(const std::array<std::string_view, kCount>& these, SmallRng& random) {
  std::string drawn(these[random.Below32(kCount)]);
  absl::AsciiStrToLower(&drawn);
  return drawn;
}

void AppendExactly(std::string& text, std::uint64_t letters, SmallRng& random) {
  for (; letters > 0; --letters) {
    text += random.Letter();
  }
}

Text DrawExtraLetters(std::size_t bytes, std::uint32_t average_bytes, std::uint32_t which, SmallRng& random,
                      EventTexts& texts) {
  if (bytes > average_bytes || !texts.Wants(which)) {
    return {};
  }
  const std::uint64_t missing = average_bytes - bytes;
  const std::uint64_t fifth = (missing + 2) / 5;
  const std::uint64_t letters = missing - fifth + (fifth == 0 ? 0 : random.Below64(2 * fifth));
  AppendExactly(texts.Begin(), letters, random);
  return texts.End(which);
}

std::uint64_t DrawFloatPrice(SmallRng& random) {
  return static_cast<std::uint64_t>(std::round(std::pow(10.0F, random.Float() * 6.0F) * 100.0F));
}

}  // namespace

RenoirRules::RenoirRules(const EventOptions& options) : options_(options), channels_(options.rules, Mix(options.seed)) {
  GLAIVE_CHECK(options.rules == Rules::kRenoir && Validate(options).ok(), "these are no options of Renoir's rules");
}

Event RenoirRules::Make(std::uint64_t number, EventTexts& texts) const {
  SmallRng random(Mix(options_.seed) + number);
  switch (KindOf(number)) {
    case Kind::kPerson:
      return ToEvent(MakePerson(number, random, texts));
    case Kind::kAuction:
      return ToEvent(MakeAuction(number, random, texts));
    case Kind::kBid:
      break;
  }
  return ToEvent(MakeBid(number, random, texts));
}

Person RenoirRules::MakePerson(std::uint64_t number, SmallRng& random, EventTexts& texts) const {
  std::size_t bytes = sizeof(Person::id);
  const auto own = [&](const std::string& text) {
    bytes += text.size();
    return texts.Own(text, kPersonTexts);
  };
  Person person{};
  person.id = LastPerson(number) + kFirstId;
  person.date_time = TimeMs(options_, number);
  std::string text = DrawLowerOf(kFirstNames, random);
  text += ' ';
  text += DrawLowerOf(kLastNames, random);
  person.name = own(text);
  text.clear();
  AppendExactly(text, 7, random);
  text += '@';
  AppendExactly(text, 5, random);
  text += ".com";
  person.email = own(text);
  std::array<std::uint32_t, 4> groups;
  for (std::uint32_t& group : groups) {
    group = random.Below32(10'000);
  }
  person.credit_card = own(absl::StrFormat("%04d %04d %04d %04d", groups[0], groups[1], groups[2], groups[3]));
  person.city = own(DrawLowerOf(kCities, random));
  person.state = own(DrawLowerOf(kStates, random));
  person.extra = DrawExtraLetters(bytes, options_.person_bytes, kOtherExtra, random, texts);
  return person;
}

Auction RenoirRules::MakeAuction(std::uint64_t number, SmallRng& random, EventTexts& texts) const {
  constexpr std::uint64_t kNameLetters = 20;
  constexpr std::uint64_t kDescriptionLetters = 100;
  constexpr std::size_t kBytes = 6 * sizeof(std::uint64_t) + kNameLetters + kDescriptionLetters;
  Auction auction{};
  auction.id = LastAuction(number) + kFirstId;
  auction.date_time = TimeMs(options_, number);
  AppendExactly(texts.Begin(), kNameLetters, random);
  auction.item_name = texts.End(kAuctionTexts);
  AppendExactly(texts.Begin(), kDescriptionLetters, random);
  auction.description = texts.End(kAuctionTexts);
  auction.initial_bid = DrawFloatPrice(random);
  auction.reserve = auction.initial_bid + DrawFloatPrice(random);
  const std::uint64_t horizon_ms = HorizonMs(options_, number);
  auction.expires =
      auction.date_time + 1 + static_cast<std::int64_t>(random.Below64(std::max<std::uint64_t>(2 * horizon_ms, 1)));
  const bool is_of_hot_seller = random.Below64(options_.hot_seller_ratio) > 0;
  auction.seller = kFirstId + (is_of_hot_seller ? HotPerson(number) : DrawPerson(number, random));
  auction.category = kFirstCategory + random.Below64(kCategories);
  auction.extra = DrawExtraLetters(kBytes, options_.auction_bytes, kOtherExtra, random, texts);
  return auction;
}

Bid RenoirRules::MakeBid(std::uint64_t number, SmallRng& random, EventTexts& texts) const {
  constexpr std::size_t kBytes = 4 * sizeof(std::uint64_t);
  Bid bid{};
  bid.date_time = TimeMs(options_, number);
  const bool is_for_hot_auction = random.Below64(options_.hot_auction_ratio) > 0;
  bid.auction = kFirstId + (is_for_hot_auction ? HotAuction(number) : DrawAuction(number, random));
  // The hot bidder is no hot seller.
  const bool is_by_hot_bidder = random.Below64(options_.hot_bidder_ratio) > 0;
  bid.bidder = kFirstId + (is_by_hot_bidder ? HotPerson(number) + 1 : DrawPerson(number, random));
  bid.price = DrawFloatPrice(random);
  const bool is_of_hot_channel = random.Below64(2) > 0;
  const Channel& channel = is_of_hot_channel ? channels_.hot(random.Below64(Channels::kHot))
                                             : channels_.other(random.Below32(Channels::kOthers));
  bid.channel = texts.Own(channel.name, kChannel);
  bid.url = texts.Own(channel.url, kUrl);
  bid.extra = DrawExtraLetters(kBytes, options_.bid_bytes, kBidExtra, random, texts);
  return bid;
}

std::uint64_t RenoirRules::DrawPerson(std::uint64_t number, SmallRng& random) const {
  const IdRange persons = PersonsToDraw(options_, number);
  return persons.first + random.Below64(persons.count);
}

std::uint64_t RenoirRules::DrawAuction(std::uint64_t number, SmallRng& random) const {
  const IdRange auctions = AuctionsToDraw(options_, number);
  return auctions.first + random.Below64(auctions.count);
}

}  // namespace glaive::queries::nexmark::events
