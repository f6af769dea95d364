// Keys of the catalogue's queries: how an event's key is shown to the engine, as a type of another size, and what the
// oracle makes of it.
//
// Of longer keys many differ in their last bytes only, so that a hash or a comparison of the first ones would be wrong.
//
//   stream.KeyBy(&KeyAs<Key40>)
//   GroupByWindows(seen, 700, 700, KeyOracleOf<Key40>().key_of, late)
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/sink/sink.h"
#include "state/record/record.h"
#include "tests/engine/typed_keys.h"
#include "tests/sim/event.h"
#include "tests/sim/oracle.h"
#include "tests/sim/show.h"

namespace glaive::sim {

using Key16 = std::array<std::uint64_t, 2>;
using Key40 = std::array<std::uint64_t, 5>;
/// 16 bytes without padding, of members of several sizes.
struct MixedKey {
  std::uint64_t high = 0;
  std::uint32_t low = 0;
  std::uint16_t middle = 0;
  std::array<std::uint8_t, 2> ends{};

  friend bool operator==(const MixedKey&, const MixedKey&) = default;
};

/// A text beside a number.
struct NamedKey {
  Text name;
  std::uint64_t number = 0;

  friend bool operator==(const NamedKey&, const NamedKey&) = default;
};
GLAIVE_RECORD(NamedKey, name, number)

inline constexpr std::uint64_t kKeysOf1Byte = 200;
inline constexpr std::uint64_t kKeysOf2Bytes = 60'000;
inline constexpr std::uint64_t kKeysOf4Bytes = 4'000'000'007;
inline constexpr std::uint64_t kKeysOfText = 3'000;
inline constexpr std::uint64_t kNames = 7;

template <typename K>
K KeyAs(const Event& event) {
  const std::uint64_t key = event.key;
  if constexpr (std::same_as<K, std::uint8_t>) {
    return static_cast<K>(key % kKeysOf1Byte);
  } else if constexpr (std::same_as<K, std::uint16_t>) {
    return static_cast<K>(key % kKeysOf2Bytes);
  } else if constexpr (std::same_as<K, std::uint32_t>) {
    return static_cast<K>(key % kKeysOf4Bytes);
  } else if constexpr (std::same_as<K, Key16>) {
    return {key % 2, key};
  } else if constexpr (std::same_as<K, Key40>) {
    return {key % 2, 5, 6, 7, key};
  } else if constexpr (std::same_as<K, MixedKey>) {
    return {.high = 9,
            .low = static_cast<std::uint32_t>(key),
            .middle = static_cast<std::uint16_t>(key >> 32),
            .ends = {static_cast<std::uint8_t>(key >> 48), static_cast<std::uint8_t>(key >> 56)}};
  } else if constexpr (std::same_as<K, Text>) {
    return engine::KeyOf<Text>(key % kKeysOfText);
  } else if constexpr (std::same_as<K, NamedKey>) {
    return {.name = engine::KeyOf<Text>(key % kNames), .number = key};
  } else {
    static_assert(std::same_as<K, std::uint64_t>);
    return key;
  }
}

/// What the oracle makes of the same key.
struct KeyOracle {
  std::string_view name;  ///< "16 bytes", ... "none"
  KeyFunction key_of;
  KeyText text;
};

/// The text of a number, as typed_keys.h says.
inline std::string TextOfNumber(std::uint64_t number) {
  const std::string digits = absl::StrFormat("%05d", number);
  return number == 0 ? "" : number % 3 == 1 ? "/" + digits : "https://a.site/p/" + digits;
}

template <typename K>
KeyOracle KeyOracleOf() {
  if constexpr (std::same_as<K, engine::AllRecords>) {
    return {"none", NoKey, AllRecordsText};
  } else if constexpr (std::same_as<K, std::uint8_t>) {
    return {"1 byte", [](const Event& event) { return event.key % kKeysOf1Byte; }, PlainText};
  } else if constexpr (std::same_as<K, std::uint16_t>) {
    return {"2 bytes", [](const Event& event) { return event.key % kKeysOf2Bytes; }, PlainText};
  } else if constexpr (std::same_as<K, std::uint32_t>) {
    return {"4 bytes", [](const Event& event) { return event.key % kKeysOf4Bytes; }, PlainText};
  } else if constexpr (std::same_as<K, Key16>) {
    return {"16 bytes", KeyOf, [](std::uint64_t key) { return absl::StrCat(key % 2, "-", key); }};
  } else if constexpr (std::same_as<K, Key40>) {
    return {"40 bytes", KeyOf, [](std::uint64_t key) { return absl::StrCat(key % 2, "-5-6-7-", key); }};
  } else if constexpr (std::same_as<K, MixedKey>) {
    return {"a struct", KeyOf, [](std::uint64_t key) {
              return absl::StrCat("9-", key & 0xFFFFFFFF, "-", key >> 32 & 0xFFFF, "-", key >> 48 & 0xFF, "-",
                                  key >> 56);
            }};
  } else if constexpr (std::same_as<K, Text>) {
    return {"a text", [](const Event& event) { return event.key % kKeysOfText; }, &TextOfNumber};
  } else if constexpr (std::same_as<K, NamedKey>) {
    return {"a struct with a text", KeyOf,
            [](std::uint64_t key) { return absl::StrCat(TextOfNumber(key % kNames), "-", key); }};
  } else {
    static_assert(std::same_as<K, std::uint64_t>);
    return {"8 bytes", KeyOf, PlainText};
  }
}

inline std::string Show(const MixedKey& key) {
  return absl::StrCat(key.high, "-", key.low, "-", key.middle, "-", static_cast<int>(key.ends[0]), "-",
                      static_cast<int>(key.ends[1]));
}

inline std::string Show(const NamedKey& key) { return absl::StrCat(Show(key.name), "-", key.number); }

}  // namespace glaive::sim
