#include "queries/nexmark/events/channels.h"

#include <cstdlib>
#include <string_view>

#include "absl/strings/str_cat.h"

#include "queries/common/random.h"
#include "queries/nexmark/events/java_random.h"
#include "queries/nexmark/events/small_rng.h"

namespace glaive::queries::nexmark::events {
namespace {

constexpr std::array<std::string_view, Channels::kHot> kHotNames = {"Google", "Facebook", "Baidu", "Apple"};

/// How a program draws what URLs are made of, and from which seed those of a channel.
struct JavaDraws {
  explicit JavaDraws(std::uint64_t seed) : random(seed) {}
  static std::uint64_t SeedOf(std::uint64_t seed, std::uint32_t place) {
    return Mix(seed + (place + 1) * kCounterStep);
  }
  static constexpr std::uint32_t kFirstOther = Channels::kHot;
  std::uint32_t Below(std::uint32_t bound) { return random.Below(bound); }
  std::uint32_t Length() { return Below(2); }
  char Letter() { return static_cast<char>('a' + Below(26)); }
  JavaRandom random;
};
/// The crate draws hot channels as it draws the first of the others.
struct RustDraws {
  explicit RustDraws(std::uint64_t seed) : random(seed) {}
  static std::uint64_t SeedOf(std::uint64_t seed, std::uint32_t place) { return seed + place; }
  static constexpr std::uint32_t kFirstOther = 0;
  std::uint32_t Below(std::uint32_t bound) { return random.Below32(bound); }
  std::uint32_t Length() { return static_cast<std::uint32_t>(random.Below64(2)); }
  char Letter() { return random.Letter(); }
  SmallRng random;
};

template <typename Draws>
std::string DrawUrl(Draws& draws) {
  std::string url = "https://www.nexmark.com/";
  for (int folder = 0; folder < 3; ++folder) {
    for (std::uint32_t left = 3 + draws.Length(); left > 0; --left) {
      url += draws.Below(13) == 0 ? '_' : draws.Letter();
    }
    url += '/';
  }
  return url + "item.htm?query=1";
}

std::uint32_t ReverseBits(std::uint32_t number) {
  std::uint32_t reversed = 0;
  for (int bit = 0; bit < 32; ++bit) {
    reversed = reversed << 1 | (number >> bit & 1);
  }
  return reversed;
}

/// The bits of the channel's number in reverse order, without the sign. Java has no positive counterpart of the least
/// integer, which is channel 1's, and writes it with its sign.
std::string IdOf(std::uint32_t channel, Rules rules) {
  const auto reversed = std::int64_t{static_cast<std::int32_t>(ReverseBits(channel))};
  return absl::StrCat(rules == Rules::kFlink && reversed == INT32_MIN ? reversed : std::abs(reversed));
}

template <typename Draws>
void DrawAll(Rules rules, std::uint64_t seed, std::array<Channel, Channels::kHot>& hot, std::vector<Channel>& others) {
  for (std::uint32_t i = 0; i < Channels::kHot; ++i) {
    Draws draws(Draws::SeedOf(seed, i));
    hot[i] = {.name = std::string(kHotNames[i]), .url = DrawUrl(draws)};
  }
  for (std::uint32_t i = 0; i < Channels::kOthers; ++i) {
    Draws draws(Draws::SeedOf(seed, Draws::kFirstOther + i));
    Draws draws_of_id = draws;
    others.push_back({.name = absl::StrCat("channel-", i), .url = DrawUrl(draws)});
    if (draws_of_id.Below(10) > 0) {
      absl::StrAppend(&others.back().url, "&channel_id=", IdOf(i, rules));
    }
  }
}

}  // namespace

Channels::Channels(Rules rules, std::uint64_t seed) {
  if (rules == Rules::kFlink) {
    DrawAll<JavaDraws>(rules, seed, hot_, others_);
  } else if (rules == Rules::kRenoir) {
    DrawAll<RustDraws>(rules, seed, hot_, others_);
  }
}

}  // namespace glaive::queries::nexmark::events
