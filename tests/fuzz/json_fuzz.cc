// Feeds lines to the reader of described records in JSON, and compares what it says with a strict reader of JSON that
// shares nothing with it (json/), and with the C library's numbers.
//
// An input that begins with '!' is drawn: members with values, spelled in the ways that JSON allows, then perhaps some
// damage. Any other input is a line as it is.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/format/json_reader.h"
#include "engine/format/json_text.h"
#include "tests/fuzz/json/json_reader.h"
#include "tests/fuzz/json/json_spelling.h"
#include "tests/fuzz/parse_outcome.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/spelling.h"
#include "tests/fuzz/text_or_drawn.h"

namespace glaive {
namespace {

struct FuzzedObject {
  std::int32_t id;
  Text name;
  std::optional<Text> note;
  std::optional<double> price;
  bool flag;
};
GLAIVE_RECORD(FuzzedObject, id, name, note, price, flag)

/// The same, with texts of its own.
struct Expected {
  std::int32_t id = 0;
  std::string name;
  std::optional<std::string> note;
  std::optional<double> price;
  bool flag = false;
};

constexpr std::array<std::string_view, 5> kNames = {"id", "name", "note", "price", "flag"};

std::optional<std::int32_t> ToInteger(const std::string& number) {
  std::uint64_t value = 0;
  const bool is_negative = number.front() == '-';
  for (const char c : number.substr(is_negative ? 1 : 0)) {
    if (c < '0' || c > '9') return std::nullopt;  // a fraction or an exponent
    value = std::min<std::uint64_t>(10 * value + static_cast<std::uint64_t>(c - '0'), std::uint64_t{1} << 40);
  }
  const std::uint64_t most = std::numeric_limits<std::int32_t>::max() + std::uint64_t{is_negative ? 1U : 0U};
  if (value > most) return std::nullopt;
  const auto number_of = static_cast<std::int64_t>(value);
  return static_cast<std::int32_t>(is_negative ? -number_of : number_of);
}

/// Sets the member with this number; false if that is no value of it.
bool SetMember(std::size_t at, const JsonMember& member, Expected& expected) {
  const bool is_string = member.kind == JsonMember::Kind::kString;
  const bool is_number = member.kind == JsonMember::Kind::kNumber;
  const bool is_null = member.kind == JsonMember::Kind::kOther && member.text == "null";
  switch (at) {
    case 0: {
      const std::optional<std::int32_t> id = is_number ? ToInteger(member.text) : std::nullopt;
      expected.id = id.value_or(0);
      return id.has_value();
    }
    case 1:
      expected.name = member.text;
      return is_string;
    case 2:
      if (is_string) expected.note = member.text;
      return is_string || is_null;
    case 3:
      if (is_number) expected.price = std::strtod(member.text.c_str(), nullptr);
      return is_null || (is_number && std::isfinite(*expected.price));
    default:
      expected.flag = member.text == "true";
      return member.kind == JsonMember::Kind::kOther && (member.text == "true" || member.text == "false");
  }
}

std::optional<Expected> Read(const std::string& line) {
  const std::optional<std::vector<JsonMember>> members = ReadJsonObject(line);
  if (!members.has_value() || line.starts_with("\xef\xbb\xbf"))
    return std::nullopt;  // a mark is the file's, not a line's
  Expected expected;
  std::array<bool, kNames.size()> seen{};
  for (const JsonMember& member : *members) {
    const auto at = static_cast<std::size_t>(std::ranges::find(kNames, member.name) - kNames.begin());
    if (at == kNames.size()) continue;
    if (std::exchange(seen[at], true) || !SetMember(at, member, expected)) return std::nullopt;
  }
  return seen[0] && seen[1] && seen[4] ? std::optional(expected) : std::nullopt;
}

std::size_t MostNested(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count(line, '[') + std::ranges::count(line, '{'));
}

/// Reads lines one after the other: what is left of one must not show in the next.
class Reader {
 public:
  engine::Parsed Read(const std::string& line, FuzzedObject& object) {
    line_ = line + std::string(engine::JsonReader::kPaddingBytes, '"');
    engine::ParseError error;
    const engine::Parsed parsed = reader_.Read({line_.data(), line.size()}, &object, texts_, error);
    if (parsed == engine::Parsed::kBad) {
      Require(error.column >= 1 && error.column <= line.size() + 1, "an error is at a column of its line");
      Require(IsMessage(error.reason), "an error's reason is short and printable");
    }
    return parsed;
  }

 private:
  engine::JsonReader reader_{engine::ShapeOf<FuzzedObject>()};
  state::TextArena texts_;
  std::string line_;
};

void RequireSame(const FuzzedObject& object, const Expected& expected) {
  Require(object.id == expected.id && object.flag == expected.flag, "numbers and words have their values");
  Require(object.name.view() == expected.name, "a string has its text");
  Require(object.note.has_value() == expected.note.has_value(), "null and what is missing are no value");
  Require(!object.note.has_value() || object.note->view() == *expected.note, "an optional string has its text");
  Require(object.price == expected.price, "a number has the value that the C library gives it");
}

void Check(const std::string& line) {
  if (MostNested(line) > engine::JsonReader::kMostNested) return;
  Reader reader;
  FuzzedObject object{};
  const std::optional<Expected> expected = Read(line);
  Require(reader.Read(line, object) == (expected.has_value() ? engine::Parsed::kRecord : engine::Parsed::kBad),
          "a line is read if it is JSON with the members, and refused otherwise");
  if (!expected.has_value()) return;
  RequireSame(object, *expected);
  std::string again;
  engine::AppendJson(again, object);
  Reader another;
  FuzzedObject twice{};
  Require(another.Read(again, twice) == engine::Parsed::kRecord, "what is written is read again");
  RequireSame(twice, *expected);
}

void CheckDrawn(FuzzedDataProvider& input) {
  std::vector<std::string> members;
  const auto add = [&](std::string_view name, const std::string& value) {
    members.push_back(SpellBlanks(input) + SpellString(input, name) + SpellBlanks(input) + ":" + SpellBlanks(input) +
                      value + SpellBlanks(input));
  };
  const auto draw_text = [&] {
    std::string text = input.ConsumeRandomLengthString(24);
    for (char& c : text) c = static_cast<char>(c & 0x7f);
    return text;
  };
  Expected expected;
  expected.id = input.ConsumeIntegral<std::int32_t>();
  add("id", std::to_string(expected.id));
  expected.name = draw_text();
  add("name", SpellString(input, expected.name));
  expected.flag = input.ConsumeBool();
  add("flag", expected.flag ? "true" : "false");
  if (input.ConsumeBool()) {
    expected.note = draw_text();
    add("note", SpellString(input, *expected.note));
  } else if (input.ConsumeBool()) {
    add("note", "null");
  }
  for (int others = input.ConsumeIntegralInRange<int>(0, 3); others > 0; --others) {
    add("other", SpellAnyValue(input));
  }
  std::string line;
  while (!members.empty()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, members.size() - 1);
    line += (line.empty() ? "{" : ",") + members[at];
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
  }
  line += "}" + SpellBlanks(input);
  Reader reader;
  FuzzedObject object{};
  Require(reader.Read(line, object) == engine::Parsed::kRecord, "a line that was written by JSON's rules is read");
  RequireSame(object, expected);
  Damage(input, line);
  Check(line);
}

}  // namespace
}  // namespace glaive

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  glaive::TestTextOrDrawn(data, size, glaive::Check, glaive::CheckDrawn);
  return 0;
}
