// Channels: where bids come from, by the rules of the suite for Apache Flink: four hot channels, and 10,000 others,
// each with a URL. Nine in ten URLs of the others end in the channel's id.
//
//   Google         https://www.nexmark.com/abc/de_f/ghi/item.htm?query=1
//   channel-17     https://www.nexmark.com/jklm/_no/pq/item.htm?query=1&channel_id=1174405120
//
// Immutable; texts of events may refer to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "queries/nexmark/events/event_options.h"

namespace glaive::queries::nexmark::events {

struct Channel {
  std::string name;
  std::string url;
};

class Channels {
 public:
  static constexpr std::uint32_t kHot = 4;
  static constexpr std::uint32_t kOthers = 10'000;

  /// Those of kFlink are drawn with java.util.Random; the suite for Flink does not seed its own. kBeam has none.
  Channels(Rules rules, std::uint64_t seed);

  const Channel& hot(std::size_t index) const { return hot_[index]; }
  const Channel& other(std::size_t index) const { return others_[index]; }

 private:
  std::array<Channel, kHot> hot_;
  std::vector<Channel> others_;
};

}  // namespace glaive::queries::nexmark::events
