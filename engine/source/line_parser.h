// LineParser: what turns a line of text into a record, for a LineSource.
//
// A parser is a small object that is called once a line; each source has a copy of its own, so it may count. It never
// fails on any bytes: what it cannot read is kBad.
//
//   struct ParseNumber {
//     Parsed operator()(std::string_view line, Number& number, ParseError& error) const {
//       if (absl::SimpleAtoi(line, &number.value)) return Parsed::kRecord;
//       return error.At(1, "a number is expected");
//     }
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace glaive::engine {

enum class Parsed : std::uint8_t {
  kRecord,   // the record has been filled in
  kOutside,  // the line is right but says that it lies outside the time its input covers: counted, and no record
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

template <typename P, typename R>
concept LineParser = requires(P& parse, std::string_view line, R& record, ParseError& error) {
  { parse(line, record, error) } -> std::same_as<Parsed>;
};

}  // namespace glaive::engine
