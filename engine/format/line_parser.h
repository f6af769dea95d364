// LineParser: the function object that turns a line of text into a record, for a LineSource.
//
// A parser is a small object that is called once a line; each source has one of its own, so it may count. It never
// fails on any bytes: what it cannot read is kBad.
//
//   struct ParseNumber {
//     Parsed operator()(std::string_view line, Number& number, ParseError& error) const {
//       if (absl::SimpleAtoi(line, &number.value)) return Parsed::kRecord;
//       return error.At(1, "a number is expected");
//     }
//   };
//
// Texts of the record may refer to the line: both are valid as long as the batch. A parser that makes texts of other
// bytes takes an arena as well, which owns them as long:
//
//   Parsed operator()(std::string_view line, Word& word, state::TextArena& texts, ParseError& error) const {
//     word.text = texts.Own(Text(Lowercase(line)));
//     return Parsed::kRecord;
//   }
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "state/record/text_arena.h"

namespace glaive::engine {

enum class Parsed : std::uint8_t {
  kRecord,   // the record has been filled in
  kOutside,  // the line is right but says that it lies outside the time its input covers: counted, and no record
  kBlank,    // the line holds nothing: not counted, and no record
  kBad,      // the error says why
};

/// Why a line is bad.
struct ParseError {
  std::size_t column = 0;  // in bytes, from 1; one behind the line where something is missing at its end
  std::string reason;

  /// Fills it in, for `return error.At(...)`.
  Parsed At(std::size_t at, std::string why) {
    column = at;
    reason = std::move(why);
    return Parsed::kBad;
  }
};

/// The start of a wrong value as an error quotes it: short and printable, whatever bytes it is of.
std::string Quoted(std::string_view value);

/// A parser that makes texts.
template <typename P, typename R>
concept TextParser = requires(P& parse, std::string_view line, R& record, state::TextArena& texts, ParseError& error) {
  { parse(line, record, texts, error) } -> std::same_as<Parsed>;
};

template <typename P, typename R>
concept LineParser = TextParser<P, R> || requires(P& parse, std::string_view line, R& record, ParseError& error) {
  { parse(line, record, error) } -> std::same_as<Parsed>;
};

}  // namespace glaive::engine
