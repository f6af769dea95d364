// Everything: a described record that has a member of each kind, and what tests need of it.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/numeric/int128.h"

#include "state/record/record.h"
#include "state/record/text.h"
#include "state/record/text_arena.h"
#include "tests/state/print_described.h"

namespace glaive::engine {

enum class TradeSide : std::uint8_t { kBuy = 1, kSell = 2 };

struct Stall {
  std::int16_t x;
  std::optional<Text> name;

  friend bool operator==(const Stall&, const Stall&) = default;
};
GLAIVE_RECORD(Stall, x, name)

struct Everything {
  std::int64_t time_ms;
  bool flag;
  std::int8_t tiny;
  std::uint8_t byte;
  std::uint16_t port;
  std::int32_t delta;
  std::uint32_t count;
  std::uint64_t id;
  TradeSide side;
  absl::int128 total;
  float load;
  double price;
  Text title;
  std::optional<Text> note;
  std::optional<std::uint32_t> lot;
  Stall place;
  std::array<std::optional<bool>, 2> answers;

  friend bool operator==(const Everything&, const Everything&) = default;
};
GLAIVE_RECORD(Everything, time_ms, flag, tiny, byte, port, delta, count, id, side, total, load, price, title, note, lot,
              place, answers)

inline constexpr std::string_view kEverythingHeader =
    "time_ms,flag,tiny,byte,port,delta,count,id,side,total,load,price,title,note,lot,place.x,place.name,answers_1,"
    "answers_2";

/// Draws records whose texts belong to an arena. `is_utf8`: texts are of characters, and not of any bytes.
class DrawEverything {
 public:
  DrawEverything(std::uint64_t seed, state::TextArena& texts) : random_(seed), texts_(&texts) {}

  Everything operator()(std::int64_t time_ms, bool is_utf8 = true) {
    Everything drawn{.time_ms = time_ms,
                     .flag = Chance(),
                     .tiny = Number<std::int8_t>(),
                     .byte = Number<std::uint8_t>(),
                     .port = Number<std::uint16_t>(),
                     .delta = Number<std::int32_t>(),
                     .count = Number<std::uint32_t>(),
                     .id = Number<std::uint64_t>(),
                     .side = Chance() ? TradeSide::kBuy : TradeSide::kSell,
                     .total = absl::MakeInt128(Number<std::int64_t>(), Number<std::uint64_t>()),
                     .load = Finite<float, std::uint32_t>(),
                     .price = Finite<double, std::uint64_t>(),
                     .title = Draw(is_utf8),
                     .note = {},
                     .lot = {},
                     .place = {},
                     .answers = {}};
    if (Chance()) drawn.note = Draw(is_utf8);
    if (Chance()) drawn.lot = Number<std::uint32_t>();
    drawn.place.x = Number<std::int16_t>();
    if (Chance()) drawn.place.name = Draw(is_utf8);
    for (auto& answer : drawn.answers) {
      if (Chance()) answer = Chance();
    }
    return drawn;
  }

 private:
  bool Chance() { return random_() % 2 == 0; }

  /// The least and the greatest among others.
  template <typename T>
  T Number() {
    switch (random_() % 8) {
      case 0:
        return std::numeric_limits<T>::min();
      case 1:
        return std::numeric_limits<T>::max();
      default:
        return static_cast<T>(random_());
    }
  }
  template <typename T, typename Bits>
  T Finite() {
    const T number = std::bit_cast<T>(static_cast<Bits>(random_()));
    return std::isnormal(number) ? number : T{0};
  }
  Text Draw(bool is_utf8) {
    constexpr std::string_view kPieces[] = {
        ",",    "\"",       "\"\"", "\n", "\r\n", "a",    " ",
        "\\",   "\t",       "ä",    "€",  "𝄞",    "\x01", "a longer piece of a text, ",
        "null", "{\"a\":1}"};
    std::string text;
    for (std::uint64_t pieces = random_() % 6; pieces > 0; --pieces) text += kPieces[random_() % std::size(kPieces)];
    for (std::uint64_t bytes = is_utf8 ? 0 : random_() % 6; bytes > 0; --bytes) text += static_cast<char>(random_());
    return texts_->Own(Text(text));
  }

  std::mt19937_64 random_;
  state::TextArena* texts_;
};

}  // namespace glaive::engine
