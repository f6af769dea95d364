// EventOptions: what a stream of NEXMark's events is like. The defaults are those of Apache Beam's suite, but for one
// generator in place of a hundred.
//
//   EventOptions options{.rules = Rules::kBeam, .event_rate = 10'000'000};
//   absl::Status valid = Validate(options);
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace glaive::queries::nexmark::events {

/// Whose rules make an event of its number.
enum class Rules : std::uint8_t {
  kBeam,    ///< Apache Beam's, bit for bit; bids have no channel and no URL
  kFlink,   ///< Beam's, and bids have the channels and URLs of the suite for Apache Flink
  kRenoir,  ///< those of the Rust crate nexmark 0.2, which Renoir reads, bit for bit
};

/// Texts that an event may go without; a set of them is their sum.
enum Texts : std::uint32_t {
  kNoText = 0,
  kPersonTexts = 1,   // all but the extra
  kAuctionTexts = 2,  // all but the extra
  kChannel = 4,
  kUrl = 8,
  kBidExtra = 16,
  kOtherExtra = 32,
  kAllTexts = 63,
};

inline constexpr std::uint64_t kMostEventRate = 1'000'000'000'000;
inline constexpr std::uint64_t kMostDisorderGroup = 1'000'000'000;
/// How far events that follow each other are apart in a group, as in Beam: a prime number.
inline constexpr std::uint64_t kDisorderStep = 953;
inline constexpr std::uint32_t kMostEventBytes = 1 << 20;
inline constexpr std::uint32_t kMostRatio = 0x7FFFFFFF;
inline constexpr std::uint32_t kMostCount = 1'000'000'000;

struct EventOptions {
  Rules rules = Rules::kFlink;
  std::uint64_t seed = 0;                          // 0: the draws of the rules' own programs
  std::uint32_t texts = kAllTexts;                 // the others are left empty
  std::int64_t start_time_ms = 1'436'918'400'000;  // 15 July 2015, as Beam has it
  std::uint64_t event_rate = 10'000;               // of all executors together, in a second of event time
  std::uint64_t disorder_group = 1;                // so many events come in a scattered order
  // Average sizes: an event's extra text fills up what the other fields leave.
  std::uint32_t person_bytes = 200;
  std::uint32_t auction_bytes = 500;
  std::uint32_t bid_bytes = 100;
  // One of so many is not for, or by, the hot one.
  std::uint32_t hot_auction_ratio = 2;
  std::uint32_t hot_seller_ratio = 4;
  std::uint32_t hot_bidder_ratio = 4;
  std::uint32_t active_people = 1'000;
  std::uint32_t in_flight_auctions = 100;
};

/// InvalidArgument naming the option and its bounds.
absl::Status Validate(const EventOptions& options);

/// About how many bytes the wanted texts of an event take beside it, over the kinds; a little more than that.
std::uint64_t AverageTextBytes(const EventOptions& options);

}  // namespace glaive::queries::nexmark::events
