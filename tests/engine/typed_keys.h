// Keys of other types than the 8-byte integers of most tests: of 1 to 56 bytes, with and without a sign, at boundaries
// of 1 to 8, of one member and of several, with and without texts.
//
// KeyOf<K>(number) is the key of a number below KeyRange<K>::kCount; another number is another key, and 0 is the key of
// zero bytes, which cells tell apart. So a test can compute its expectation over numbers, and find the number of a
// row's key by its bytes.
//
//   const KeyNumbers numbers = NumbersOf<FixedText<40>>(100);
//   numbers.at(BytesOf(row.key))                            // 17, of KeyOf<FixedText<40>>(17)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rdma/base/check.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::engine {

enum class Shade : std::uint8_t {};

/// 16 bytes, as an address of IPv6.
struct HostAddress {
  std::uint64_t network;
  std::uint64_t interface;

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const HostAddress& address) {
    return H::combine(std::move(state), address.network, address.interface);
  }
};

/// 12 bytes at boundaries of 4, in five members.
struct Place {
  std::int32_t longitude;
  std::uint16_t region;
  Shade shade;
  bool is_inhabited;
  std::array<char, 4> country;

  friend bool operator==(const Place&, const Place&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Place& place) {
    return H::combine(std::move(state), place.longitude, place.region, place.shade, place.is_inhabited, place.country);
  }
};

/// A string of a fixed length, with zeros behind its end.
template <std::size_t kSize>
using FixedText = std::array<char, kSize>;

template <typename K>
struct KeyRange {
  static constexpr std::uint64_t kCount = std::uint64_t{1} << std::min<std::size_t>(8 * sizeof(K), 32);
};
template <>
struct KeyRange<bool> {
  static constexpr std::uint64_t kCount = 2;
};
template <typename K>
  requires kHasText<K>
struct KeyRange<K> {
  static constexpr std::uint64_t kCount = 3'000;
};

template <typename K>
K KeyOf(std::uint64_t number);

template <>
inline bool KeyOf<bool>(std::uint64_t number) {
  return number == 1;
}
template <>
inline Shade KeyOf<Shade>(std::uint64_t number) {
  return static_cast<Shade>(number);
}
template <>
inline std::uint16_t KeyOf<std::uint16_t>(std::uint64_t number) {
  return static_cast<std::uint16_t>(number * 40'503);  // an odd factor: no two are alike
}
/// Every second one is negative.
template <>
inline std::int32_t KeyOf<std::int32_t>(std::uint64_t number) {
  const auto half = static_cast<std::int32_t>(number / 2);
  return number % 2 == 0 ? half : std::numeric_limits<std::int32_t>::min() + half;
}
/// Neighbours differ in one half alone.
template <>
inline HostAddress KeyOf<HostAddress>(std::uint64_t number) {
  return {.network = (number % 3) << 60, .interface = number / 3};
}
template <>
inline Place KeyOf<Place>(std::uint64_t number) {
  return {.longitude = -static_cast<std::int32_t>(number % 5),
          .region = static_cast<std::uint16_t>(number / 5 % 7),
          .shade = static_cast<Shade>(number / 35 % 11),
          .is_inhabited = number / 385 % 2 == 1,
          .country = {0, 0, static_cast<char>(number / 770 % 100), static_cast<char>(number / 77'000)}};
}
/// Texts differ in their last characters alone.
template <std::size_t kSize>
FixedText<kSize> TextOf(std::uint64_t number) {
  FixedText<kSize> text{};
  if (number == 0) {
    return text;
  }
  text.fill('x');
  const std::string digits = std::to_string(number);
  std::copy(digits.begin(), digits.end(), text.end() - static_cast<std::ptrdiff_t>(digits.size()));
  return text;
}
template <>
inline FixedText<40> KeyOf<FixedText<40>>(std::uint64_t number) {
  return TextOf<40>(number);
}
template <>
inline FixedText<56> KeyOf<FixedText<56>>(std::uint64_t number) {
  return TextOf<56>(number);
}

/// The texts of numbers up to 3,000, each in a place of its own.
inline constexpr std::size_t kTextBytes = 22;
inline constexpr auto kTexts = [] {
  std::array<char, 3'000 * kTextBytes> texts{};
  for (std::size_t number = 0; number < texts.size() / kTextBytes; ++number) {
    char* const text = texts.data() + number * kTextBytes;
    constexpr std::string_view kBeginning = "https://a.site/p/";
    std::copy(kBeginning.begin(), kBeginning.end(), text);
    std::size_t digits = number;
    for (std::size_t place = kTextBytes; place > kBeginning.size(); --place, digits /= 10) {
      text[place - 1] = static_cast<char>('0' + digits % 10);
    }
  }
  return texts;
}();
/// The empty text, short ones, and long ones that differ in their last characters alone.
template <>
inline Text KeyOf<Text>(std::uint64_t number) {
  const std::string_view text(kTexts.data() + number * kTextBytes, number == 0 ? 0 : kTextBytes);
  return Text(number % 3 == 1 ? text.substr(kTextBytes - 6) : text);
}

/// Two texts and a number between them.
struct Page {
  Text site;
  std::uint64_t visit;
  Text path;

  friend bool operator==(const Page&, const Page&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Page& page) {
    return H::combine(std::move(state), page.site, page.visit, page.path);
  }
};
GLAIVE_RECORD(Page, site, visit, path)
template <>
inline Page KeyOf<Page>(std::uint64_t number) {
  return {.site = KeyOf<Text>(number % 5), .visit = number / 5 % 3, .path = KeyOf<Text>(number / 15)};
}

template <state::StateKey K>
std::string BytesOf(const K& key) {
  K content = key;
  std::string texts;
  ForEachText(content, [&texts](Text& text) {
    texts += text.view();
    text = text.is_inline() ? text : text.WithReference(0);
  });
  std::string bytes(sizeof(content), '\0');
  std::memcpy(bytes.data(), &content, sizeof(content));
  return bytes + texts;
}

/// Keys' bytes, and which number each key is of.
using KeyNumbers = std::map<std::string, std::uint64_t>;

template <typename K>
KeyNumbers NumbersOf(std::uint64_t count) {
  GLAIVE_CHECK(count <= KeyRange<K>::kCount, count, " keys of ", KeyRange<K>::kCount);
  KeyNumbers numbers;
  for (std::uint64_t number = 0; number < count; ++number) {
    const bool is_new = numbers.emplace(BytesOf(KeyOf<K>(number)), number).second;
    GLAIVE_CHECK(is_new, "two numbers have the same key, of which ", number, " is one");
  }
  return numbers;
}

}  // namespace glaive::engine
