// What follows from an event's number alone: its kind, the ids of persons and auctions, and its event time. Pure
// functions of some nanoseconds.
//
//   number       0        1 2 3     4 ... 49    50       51 52 53    54 ... 99
//   kind         person   auctions  bids        person   auctions    bids
//   id           1000     1000..    of others   1001     1003..      of others
//
// Ids here are counted from 0; kFirstId is added to those of events.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_options.h"

namespace glaive::queries::nexmark::events {

inline constexpr std::uint64_t kFirstId = 1'000;
inline constexpr std::uint64_t kFirstCategory = 10;
inline constexpr std::uint32_t kCategories = 5;
inline constexpr std::uint64_t kPersonsOfRound = 1;
inline constexpr std::uint64_t kAuctionsOfRound = 3;
inline constexpr std::uint64_t kEventsOfRound = 50;
/// The hot auction, seller or bidder is the first, or for bidders the second, of so many.
inline constexpr std::uint64_t kHotOf = 100;
/// Draws may be of so many persons and auctions that do not exist yet.
inline constexpr std::uint64_t kLead = 10;

constexpr Kind KindOf(std::uint64_t number) {
  const std::uint64_t place = number % kEventsOfRound;
  return place < kPersonsOfRound                      ? Kind::kPerson
         : place < kPersonsOfRound + kAuctionsOfRound ? Kind::kAuction
                                                      : Kind::kBid;
}

/// The person of the event, or the last one before it.
constexpr std::uint64_t LastPerson(std::uint64_t number) { return number / kEventsOfRound; }

/// The auction of the event, or the last one before a bid.
constexpr std::uint64_t LastAuction(std::uint64_t number) {
  const std::uint64_t place = std::min(number % kEventsOfRound - kPersonsOfRound, kAuctionsOfRound - 1);
  return number / kEventsOfRound * kAuctionsOfRound + place;
}

/// The person that most hot draws are of, and the auction.
constexpr std::uint64_t HotPerson(std::uint64_t number) { return LastPerson(number) / kHotOf * kHotOf; }
constexpr std::uint64_t HotAuction(std::uint64_t number) { return LastAuction(number) / kHotOf * kHotOf; }

/// `count` ids from `first` on, of which an event draws one.
struct IdRange {
  std::uint64_t first;
  std::uint64_t count;
};

/// The active persons, and the next ones that will register.
inline IdRange PersonsToDraw(const EventOptions& options, std::uint64_t number) {
  const std::uint64_t persons = LastPerson(number) + 1;
  const std::uint64_t active = std::min<std::uint64_t>(persons, options.active_people);
  return {.first = persons - active, .count = active + kLead};
}

/// The auctions that are likely to be open, and the next ones that will be opened.
inline IdRange AuctionsToDraw(const EventOptions& options, std::uint64_t number) {
  const std::uint64_t last = LastAuction(number);
  const std::uint64_t first = last - std::min<std::uint64_t>(last, options.in_flight_auctions);
  return {.first = first, .count = last - first + 1 + kLead};
}

/// Where an event comes in the stream: in groups of `group`, which is no multiple of kDisorderStep, event kDisorderStep
/// times n modulo the group is n-th.
constexpr std::uint64_t InDisorder(std::uint64_t number, std::uint64_t group) {
  return group == 1 ? number : number / group * group + number % group * (kDisorderStep % group) % group;
}

/// The event time in ms, from the start on. Beam rounds the time from one event to the next to whole microseconds, to
/// none beyond 2 M events/s; here it is exact, and the same where it is whole. nexmark-rs computes with 32-bit floats.
inline std::int64_t TimeMs(const EventOptions& options, std::uint64_t number) {
  if (options.rules == Rules::kRenoir) {
    const float delay_us = 1e6F / static_cast<float>(options.event_rate);
    const float elapsed_us = static_cast<float>(number) * delay_us;
    return options.start_time_ms + static_cast<std::int64_t>(std::round(elapsed_us / 1000.0F));
  }
  return options.start_time_ms + static_cast<std::int64_t>(number * 1000 / options.event_rate);
}

/// The event time from an event to the one that opens the last auction that is then in flight.
inline std::uint64_t HorizonMs(const EventOptions& options, std::uint64_t number) {
  const std::uint64_t ahead = options.in_flight_auctions * kEventsOfRound / kAuctionsOfRound;
  return static_cast<std::uint64_t>(TimeMs(options, number + ahead) - TimeMs(options, number));
}

}  // namespace glaive::queries::nexmark::events
