// Event: a person, an auction or a bid of NEXMark with all of its fields, in 160 bytes and the bytes of its longer
// texts.
//
// All three kinds come in one stream, as in Apache Beam's suite, so that bids meet the auctions that they are for. An
// Event has room for the fields of each kind:
//
//   kind      numbers                                                     texts
//   person    id                                                          name, email, credit card, city, state, extra
//   auction   id, initial bid, reserve, expires, seller, category         item name, description, extra
//   bid       auction, bidder, price                                      channel, url, extra
//
//   From(events).FilterMap(BidOf{}).Filter([](const Bid& bid) { return bid.price > 100; })
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::queries::nexmark::events {

enum class Kind : std::uint64_t { kPerson, kAuction, kBid };

struct Event {
  std::int64_t date_time;  // ms since 1970
  Kind kind;
  std::array<std::uint64_t, 6> numbers;  // those that the kind does not have are 0
  std::array<Text, 6> texts;             // those that the kind does not have are empty
};
GLAIVE_RECORD(Event, date_time, kind, numbers, texts)
static_assert(sizeof(Event) == 160);

struct EventTime {
  std::int64_t operator()(const Event& event) const { return event.date_time; }
};

struct Person {
  std::uint64_t id;
  Text name;
  Text email;
  Text credit_card;
  Text city;
  Text state;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Person, id, name, email, credit_card, city, state, date_time, extra)

struct Auction {
  std::uint64_t id;
  Text item_name;
  Text description;
  std::uint64_t initial_bid;  // cents
  std::uint64_t reserve;      // cents
  std::int64_t date_time;
  std::int64_t expires;  // ms since 1970
  std::uint64_t seller;
  std::uint64_t category;
  Text extra;
};
GLAIVE_RECORD(Auction, id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra)

struct Bid {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;  // cents
  Text channel;
  Text url;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Bid, auction, bidder, price, channel, url, date_time, extra)

inline Event ToEvent(const Person& person) {
  return {.date_time = person.date_time,
          .kind = Kind::kPerson,
          .numbers = {person.id},
          .texts = {person.name, person.email, person.credit_card, person.city, person.state, person.extra}};
}
inline Event ToEvent(const Auction& auction) {
  return {.date_time = auction.date_time,
          .kind = Kind::kAuction,
          .numbers = {auction.id, auction.initial_bid, auction.reserve, static_cast<std::uint64_t>(auction.expires),
                      auction.seller, auction.category},
          .texts = {auction.item_name, auction.description, auction.extra}};
}
inline Event ToEvent(const Bid& bid) {
  return {.date_time = bid.date_time,
          .kind = Kind::kBid,
          .numbers = {bid.auction, bid.bidder, bid.price},
          .texts = {bid.channel, bid.url, bid.extra}};
}

/// The event as a person; nothing if it is of another kind. As those below, a function object, which the compiler
/// inlines into a query's loop.
struct PersonOf {
  std::optional<Person> operator()(const Event& event) const {
    if (event.kind != Kind::kPerson) {
      return std::nullopt;
    }
    return Person{.id = event.numbers[0],
                  .name = event.texts[0],
                  .email = event.texts[1],
                  .credit_card = event.texts[2],
                  .city = event.texts[3],
                  .state = event.texts[4],
                  .date_time = event.date_time,
                  .extra = event.texts[5]};
  }
};

/// Likewise as an auction.
struct AuctionOf {
  std::optional<Auction> operator()(const Event& event) const {
    if (event.kind != Kind::kAuction) {
      return std::nullopt;
    }
    return Auction{.id = event.numbers[0],
                   .item_name = event.texts[0],
                   .description = event.texts[1],
                   .initial_bid = event.numbers[1],
                   .reserve = event.numbers[2],
                   .date_time = event.date_time,
                   .expires = static_cast<std::int64_t>(event.numbers[3]),
                   .seller = event.numbers[4],
                   .category = event.numbers[5],
                   .extra = event.texts[2]};
  }
};

/// Likewise as a bid.
struct BidOf {
  std::optional<Bid> operator()(const Event& event) const {
    if (event.kind != Kind::kBid) {
      return std::nullopt;
    }
    return Bid{.auction = event.numbers[0],
               .bidder = event.numbers[1],
               .price = event.numbers[2],
               .channel = event.texts[0],
               .url = event.texts[1],
               .date_time = event.date_time,
               .extra = event.texts[2]};
  }
};

/// Likewise the bidder of a bid.
struct BidderOf {
  std::optional<std::uint64_t> operator()(const Event& event) const {
    return event.kind == Kind::kBid ? std::optional(event.numbers[1]) : std::nullopt;
  }
};

}  // namespace glaive::queries::nexmark::events
