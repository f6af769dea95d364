#include "queries/nexmark/events/beam_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "queries/common/random.h"
#include "queries/nexmark/events/names.h"
#include "queries/nexmark/events/numbering.h"
#include "rdma/base/check.h"

namespace glaive::queries::nexmark::events {
namespace {

constexpr std::uint32_t kLeastLetters = 3;

/// One of `these`.
template <std::size_t kCount>
std::string_view DrawOf(const std::array<std::string_view, kCount>& these, JavaRandom& random) {
  return these[random.Below(kCount)];
}

/// Appends from 3 letters and spaces to one less than `most`, without the spaces at both ends.
void AppendLetters(std::string& text, std::uint32_t most, JavaRandom& random) {
  const std::size_t begin = text.size();
  for (std::uint32_t left = kLeastLetters + random.Below(most - kLeastLetters); left > 0; --left) {
    text += random.Below(13) == 0 ? ' ' : static_cast<char>('a' + random.Below(26));
  }
  while (text.size() > begin && text.back() == ' ') {
    text.pop_back();
  }
  text.erase(begin, std::min(text.find_first_not_of(' ', begin), text.size()) - begin);
}

/// Appends `digits` digits.
void AppendDigits(std::string& text, std::uint32_t number, int digits) {
  text.resize(text.size() + static_cast<std::size_t>(digits));
  for (auto digit = text.rbegin(); digits > 0; ++digit, --digits) {
    *digit = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

/// A text that makes an event of `bytes` bytes `average_bytes` large, a fifth of it more or less. Six characters are
/// drawn at once. Java's remainder of a negative number is negative: then they come before 'a'.
Text DrawExtra(std::size_t bytes, std::uint32_t average_bytes, std::uint32_t which, JavaRandom& random,
               EventTexts& texts) {
  constexpr int kCharactersOfInt = 6;
  if (bytes > average_bytes || !texts.Wants(which)) {
    return {};
  }
  const auto missing = static_cast<std::uint32_t>(average_bytes - bytes);
  const auto fifth = static_cast<std::uint32_t>(std::floor(missing * 0.2 + 0.5));
  std::uint32_t left = missing - fifth + (fifth == 0 ? 0 : random.Below(2 * fifth));
  std::string& extra = texts.Begin();
  while (left > 0) {
    std::int32_t drawn = random.Int();
    for (int i = 0; i < kCharactersOfInt && left > 0; ++i, --left) {
      extra += static_cast<char>('a' + drawn % 26);
      drawn /= 26;
    }
  }
  return texts.End(which);
}

std::uint64_t DrawPrice(JavaRandom& random) {
  return static_cast<std::uint64_t>(std::floor(std::pow(10.0, random.Double() * 6.0) * 100.0 + 0.5));
}

}  // namespace

BeamRules::BeamRules(const EventOptions& options) : options_(options), channels_(options.rules, Mix(options.seed)) {
  GLAIVE_CHECK(options.rules != Rules::kRenoir && Validate(options).ok(), "these are no options of Beam's rules");
}

Event BeamRules::Make(std::uint64_t number, EventTexts& texts) const {
  JavaRandom random(Mix(options_.seed) + number);
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

Person BeamRules::MakePerson(std::uint64_t number, JavaRandom& random, EventTexts& texts) const {
  std::size_t bytes = sizeof(Person::id);
  const auto end = [&] {
    const std::size_t drawn = texts.draft().size();
    bytes += drawn;
    return texts.End(kPersonTexts);
  };
  Person person{};
  person.id = LastPerson(number) + kFirstId;
  person.date_time = TimeMs(options_, number);
  const std::string_view first_name = DrawOf(kFirstNames, random);
  texts.Begin().append(first_name).append(" ").append(DrawOf(kLastNames, random));
  person.name = end();
  std::string& email = texts.Begin();
  AppendLetters(email, 7, random);
  email += '@';
  AppendLetters(email, 5, random);
  email += ".com";
  person.email = end();
  std::string& credit_card = texts.Begin();
  for (int group = 0; group < 4; ++group) {
    credit_card += group > 0 ? " " : "";
    AppendDigits(credit_card, random.Below(10'000), 4);
  }
  person.credit_card = end();
  texts.Begin() = DrawOf(kCities, random);
  person.city = end();
  texts.Begin() = DrawOf(kStates, random);
  person.state = end();
  person.extra = DrawExtra(bytes, options_.person_bytes, kOtherExtra, random, texts);
  return person;
}

Auction BeamRules::MakeAuction(std::uint64_t number, JavaRandom& random, EventTexts& texts) const {
  constexpr std::size_t kBytesOfNumbers = 6 * sizeof(std::uint64_t);
  Auction auction{};
  auction.id = LastAuction(number) + kFirstId;
  auction.date_time = TimeMs(options_, number);
  const bool is_of_hot_seller = random.Below(options_.hot_seller_ratio) > 0;
  auction.seller = kFirstId + (is_of_hot_seller ? HotPerson(number) : DrawPerson(number, random));
  auction.category = kFirstCategory + random.Below(kCategories);
  auction.initial_bid = DrawPrice(random);
  const std::uint64_t horizon_ms = HorizonMs(options_, number);
  auction.expires =
      auction.date_time + 1 + static_cast<std::int64_t>(random.BelowLong(std::max<std::uint64_t>(2 * horizon_ms, 1)));
  AppendLetters(texts.Begin(), 20, random);
  std::size_t bytes = kBytesOfNumbers + texts.draft().size();
  auction.item_name = texts.End(kAuctionTexts);
  AppendLetters(texts.Begin(), 100, random);
  bytes += texts.draft().size();
  auction.description = texts.End(kAuctionTexts);
  auction.reserve = auction.initial_bid + DrawPrice(random);
  auction.extra = DrawExtra(bytes, options_.auction_bytes, kOtherExtra, random, texts);
  return auction;
}

Bid BeamRules::MakeBid(std::uint64_t number, JavaRandom& random, EventTexts& texts) const {
  constexpr std::size_t kBytesOfNumbers = 4 * sizeof(std::uint64_t);
  Bid bid{};
  bid.date_time = TimeMs(options_, number);
  const bool is_for_hot_auction = random.Below(options_.hot_auction_ratio) > 0;
  bid.auction = kFirstId + (is_for_hot_auction ? HotAuction(number) : DrawAuction(number, random));
  // The hot bidder is no hot seller.
  const bool is_by_hot_bidder = random.Below(options_.hot_bidder_ratio) > 0;
  bid.bidder = kFirstId + (is_by_hot_bidder ? HotPerson(number) + 1 : DrawPerson(number, random));
  bid.price = DrawPrice(random);
  if (options_.rules == Rules::kFlink) {
    const bool is_of_hot_channel = random.Below(2) > 0;
    const Channel& channel = is_of_hot_channel ? channels_.hot(random.Below(Channels::kHot))
                                               : channels_.other(random.Below(Channels::kOthers));
    bid.channel = texts.Own(channel.name, kChannel);
    bid.url = texts.Own(channel.url, kUrl);
  }
  bid.extra = DrawExtra(kBytesOfNumbers, options_.bid_bytes, kBidExtra, random, texts);
  return bid;
}

std::uint64_t BeamRules::DrawPerson(std::uint64_t number, JavaRandom& random) const {
  const IdRange persons = PersonsToDraw(options_, number);
  return persons.first + random.BelowLong(persons.count);
}

std::uint64_t BeamRules::DrawAuction(std::uint64_t number, JavaRandom& random) const {
  const IdRange auctions = AuctionsToDraw(options_, number);
  return auctions.first + random.BelowLong(auctions.count);
}

}  // namespace glaive::queries::nexmark::events
