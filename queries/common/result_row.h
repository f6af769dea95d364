// ResultRow and Totals: what a query emits, and a summary of many rows that does not depend on their order.
//
// Totals of several leaders add up to the totals of the run. A missing row, an extra row, or a row with another window,
// key or value changes the checksum; so does one row missing here and another one emitted twice there.
//
//   Totals totals;
//   totals.Add({.window_start_ms = 0, .window_end_ms = 1000, .key = 17, .value = ValueBits(3)});
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/numeric/int128.h"

#include "engine/sink/sink.h"
#include "queries/common/random.h"
#include "state/record/text.h"

namespace glaive::queries {

/// Any aggregate's result as 64 bits, equal if and only if the results are: integers of up to 64 bits as they are,
/// floating-point numbers as the bits of a double. A number beyond 64 bits is a hash of both halves. Windows without a
/// record have no row, so a result is never empty.
template <std::integral T>
constexpr std::uint64_t ValueBits(T value) {
  return static_cast<std::uint64_t>(value);
}
template <std::floating_point T>
constexpr std::uint64_t ValueBits(T value) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}
inline std::uint64_t ValueBits(absl::int128 value) {
  const std::uint64_t low = absl::Int128Low64(value);
  const bool fits = value >= INT64_MIN && value <= INT64_MAX;
  return fits ? low : Mix(low ^ Mix(static_cast<std::uint64_t>(absl::Int128High64(value))));
}
/// A hash, for keys: two texts of a result have the same by accident only.
inline std::uint64_t TextBits(std::string_view text) {
  std::uint64_t bits = text.size();
  for (; text.size() > sizeof(bits); text.remove_prefix(sizeof(bits))) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), sizeof(word));
    bits = Mix(bits ^ word) + kCounterStep;
  }
  std::uint64_t rest = 0;
  for (const char byte : text) {
    rest = rest << 8 | static_cast<unsigned char>(byte);
  }
  return Mix(bits ^ rest);
}
inline std::uint64_t ValueBits(const Text& text) { return TextBits(text); }
/// The key of a query without KeyBy.
constexpr std::uint64_t ValueBits(engine::AllRecords /*key*/) { return 0; }
template <typename T>
std::uint64_t ValueBits(const std::optional<T>& value) {
  return ValueBits(value.value());
}

/// Of several results, of both sides of a join, and of lists: a hash of all of them.
template <typename T>
std::uint64_t ValueBits(const std::vector<T>& values) {
  std::uint64_t bits = values.size();
  for (const T& value : values) {
    bits = Mix(bits) + ValueBits(value);
  }
  return bits;
}
/// One of several. Only here may a value be empty: that of a join's side without a partner.
template <typename T>
std::uint64_t PartBits(const T& value) {
  return ValueBits(value);
}
template <typename T>
std::uint64_t PartBits(const std::optional<T>& value) {
  constexpr std::uint64_t kEmpty = 0x6e6f7468696e6721;  // arbitrary, so that hardly any value has it
  return value ? PartBits(*value) : kEmpty;
}
template <typename... Ts>
std::uint64_t ValueBits(const std::tuple<Ts...>& values) {
  std::uint64_t bits = sizeof...(Ts);
  std::apply([&](const Ts&... value) { ((bits = Mix(bits) + PartBits(value)), ...); }, values);
  return bits;
}

/// The aggregate of one key in one window, or one of the pairs that a join has found for it.
struct ResultRow {
  std::int64_t window_start_ms = 0;
  std::int64_t window_end_ms = 0;
  std::uint64_t key = 0;    ///< ValueBits of the key
  std::uint64_t value = 0;  ///< ValueBits of the result

  friend auto operator<=>(const ResultRow&, const ResultRow&) = default;
};

/// See the head of this file.
struct Totals {
  std::uint64_t rows = 0;
  std::uint64_t value_sum = 0;  // modulo 2^64
  std::uint64_t checksum = 0;   // sum over the rows of a 64-bit hash of all fields, modulo 2^64

  /// About 2 ns.
  void Add(const ResultRow& row) { AddOf(HashOfWindow(row.window_start_ms, row.window_end_ms), row.key, row.value); }
  /// Likewise of a window whose hash is known: about 1 ns.
  void AddOf(std::uint64_t window_hash, std::uint64_t key, std::uint64_t value) {
    rows += 1;
    value_sum += value;
    checksum += Mix(Mix(window_hash + key) + value);
  }
  static std::uint64_t HashOfWindow(std::int64_t start_ms, std::int64_t end_ms) {
    return Mix(Mix(static_cast<std::uint64_t>(start_ms)) + static_cast<std::uint64_t>(end_ms));
  }
  void Merge(const Totals& other) {
    rows += other.rows;
    value_sum += other.value_sum;
    checksum += other.checksum;
  }

  friend bool operator==(const Totals&, const Totals&) = default;
};

}  // namespace glaive::queries
