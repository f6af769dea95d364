// Events with strings of their own, for oracles that hold many of them, and LineOf, a line of CSV.
//
//   const PlainBid bid(event);
//   emit(LineOf({bid.auction, bid.price, bid.extra}));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "queries/nexmark/events/event.h"

namespace glaive::queries::nexmark::suite {

struct PlainPerson {
  explicit PlainPerson(const events::Event& event)
      : id(event.numbers[0]),
        name(event.texts[0].view()),
        city(event.texts[3].view()),
        state(event.texts[4].view()),
        time(event.date_time) {}

  std::uint64_t id;
  std::string name;
  std::string city;
  std::string state;
  std::int64_t time;
};

struct PlainAuction {
  explicit PlainAuction(const events::Event& event)
      : id(event.numbers[0]),
        initial_bid(event.numbers[1]),
        reserve(event.numbers[2]),
        expires(static_cast<std::int64_t>(event.numbers[3])),
        seller(event.numbers[4]),
        category(event.numbers[5]),
        time(event.date_time),
        item_name(event.texts[0].view()),
        description(event.texts[1].view()),
        extra(event.texts[2].view()) {}

  std::uint64_t id;
  std::uint64_t initial_bid;
  std::uint64_t reserve;
  std::int64_t expires;
  std::uint64_t seller;
  std::uint64_t category;
  std::int64_t time;
  std::string item_name;
  std::string description;
  std::string extra;
};

struct PlainBid {
  explicit PlainBid(const events::Event& event)
      : auction(event.numbers[0]),
        bidder(event.numbers[1]),
        price(event.numbers[2]),
        time(event.date_time),
        channel(event.texts[0].view()),
        url(event.texts[1].view()),
        extra(event.texts[2].view()) {}

  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t time;
  std::string channel;
  std::string url;
  std::string extra;
};

/// A column of CSV: a text, or a number's digits.
struct Column {
  // NOLINTBEGIN(google-explicit-constructor): a line is written as the list of its columns
  Column(std::string column_text) : text(std::move(column_text)) {}
  Column(std::int64_t number) : text(std::to_string(number)) {}
  Column(std::uint64_t number) : text(std::to_string(number)) {}
  // NOLINTEND(google-explicit-constructor)

  std::string text;
};

/// A line of these columns. No text of an event has a comma, a quote or a line break.
inline std::string LineOf(std::initializer_list<Column> columns) {
  std::string line;
  const char* separator = "";
  for (const Column& column : columns) {
    line += separator + column.text;
    separator = ",";
  }
  return line;
}

}  // namespace glaive::queries::nexmark::suite
