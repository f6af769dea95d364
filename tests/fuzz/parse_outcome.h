// ParseLine: what a parser of lines (engine/format/line_parser.h) says of a line, after the demands that hold for every
// parser and line: a refusal names a column of the line or the one behind it, and gives a reason that is short and
// printable.
//
//   const auto outcome = ParseLine<TaskEvent>(line, ParseTaskEvent{});
#pragma once

#include <string>
#include <string_view>

#include "engine/format/line_parser.h"
#include "tests/fuzz/require.h"

namespace glaive {

template <typename Record>
struct ParseOutcome {
  engine::Parsed parsed = engine::Parsed::kBad;
  Record record{};
  engine::ParseError error;
};

/// `text` is printable ASCII, has no newline, and is no longer than a message should be.
inline bool IsMessage(std::string_view text) {
  constexpr std::size_t kMostBytes = 1000;
  bool is_printable = true;
  for (const char c : text) is_printable = is_printable && c >= ' ' && c <= '~';
  return is_printable && !text.empty() && text.size() <= kMostBytes;
}

template <typename Record, typename Parser>
ParseOutcome<Record> ParseLine(const std::string& line, const Parser& parser) {
  ParseOutcome<Record> outcome;
  Parser parse = parser;
  outcome.parsed = parse(line, outcome.record, outcome.error);
  if (outcome.parsed == engine::Parsed::kBad) {
    Require(outcome.error.column >= 1 && outcome.error.column <= line.size() + 1,
            "an error is at a column of its line");
    Require(IsMessage(outcome.error.reason), "an error's reason is short and printable");
  }
  return outcome;
}

}  // namespace glaive
