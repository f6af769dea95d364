// Feeds lines to the parser of the Yahoo benchmark's events, and compares what it says with a slow reader of JSON that
// shares no code with it, and with the description of the fields.
//
// An input that begins with '!' is drawn: an event, written with any order of fields, blanks, escapes and other fields,
// then perhaps some damage. Any other input is a line as it is.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/ysb/ysb_json.h"
#include "tests/fuzz/json/json_reader.h"
#include "tests/fuzz/json/json_spelling.h"
#include "tests/fuzz/parse_outcome.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/spelling.h"
#include "tests/fuzz/text_or_drawn.h"
#include "tests/fuzz/uuid_text.h"

namespace glaive::queries::ysb {
namespace {

constexpr std::int64_t kEndOf9999Ms = 253'402'300'799'999;
constexpr std::array<std::string_view, 7> kFields = {"user_id",    "page_id",    "ad_id",     "ad_type",
                                                     "event_type", "event_time", "ip_address"};
constexpr std::array<std::string_view, 5> kAdTypes = {"banner", "modal", "sponsored-search", "mail", "mobile"};
constexpr std::array<std::string_view, 3> kEventTypes = {"view", "click", "purchase"};

/// A number of digits alone.
std::optional<std::int64_t> ReadDigits(std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min(10 * value + (c - '0'), most + 1);
  }
  return text.empty() || value > most ? std::nullopt : std::optional(value);
}

std::optional<std::uint32_t> ReadAddress(std::string_view text) {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return std::nullopt;
    const std::string_view digits = text.substr(0, dot);
    const std::optional<std::int64_t> number = ReadDigits(digits, 255);
    if (!number.has_value() || digits.size() > 3) return std::nullopt;
    address = address << 8 | static_cast<std::uint32_t>(*number);
    if (part < 3) text.remove_prefix(dot + 1);
  }
  return address;
}

template <typename Enum, std::size_t kNames>
bool ReadName(std::string_view text, const std::array<std::string_view, kNames>& names, Enum& value) {
  const auto found = std::find(names.begin(), names.end(), text);
  value = static_cast<Enum>(found - names.begin());
  return found != names.end();
}

bool ReadUuidInto(std::string_view text, std::uint8_t (&bytes)[16]) {
  const std::optional<UuidBytes> uuid = ReadUuid(text);
  if (uuid.has_value()) std::copy(uuid->begin(), uuid->end(), bytes);
  return uuid.has_value();
}

/// Sets the field with this number; false if that is no value of it.
bool SetField(std::size_t field, const JsonMember& member, YsbEvent& event) {
  if (member.kind != JsonMember::Kind::kString && (field != 5 || member.kind != JsonMember::Kind::kNumber))
    return false;
  switch (field) {
    case 0:
      return ReadUuidInto(member.text, event.user_id);
    case 1:
      return ReadUuidInto(member.text, event.page_id);
    case 2: {
      const std::optional<UuidBytes> uuid = ReadUuid(member.text);
      event.ad_id = FirstBytesOf(uuid.value_or(UuidBytes{}));
      return ReadUuidInto(member.text, event.ad_uuid);
    }
    case 3:
      return ReadName(member.text, kAdTypes, event.ad_type);
    case 4:
      return ReadName(member.text, kEventTypes, event.event_type);
    case 5: {
      const std::optional<std::int64_t> time_ms = ReadDigits(member.text, kEndOf9999Ms);
      event.event_time_ms = time_ms.value_or(0);
      return time_ms.has_value();
    }
    default: {
      const std::optional<std::uint32_t> address = ReadAddress(member.text);
      event.ip = address.value_or(0);
      return address.has_value();
    }
  }
}

/// The event that a line is, if it is one.
std::optional<YsbEvent> Read(const std::string& line) {
  const std::optional<std::vector<JsonMember>> members = ReadJsonObject(line);
  if (!members.has_value()) return std::nullopt;
  YsbEvent event{};
  std::array<bool, kFields.size()> seen{};
  for (const JsonMember& member : *members) {
    const auto field =
        static_cast<std::size_t>(std::find(kFields.begin(), kFields.end(), member.name) - kFields.begin());
    if (field == kFields.size()) continue;
    if (std::exchange(seen[field], true) || !SetField(field, member, event)) return std::nullopt;
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end() ? std::optional(event) : std::nullopt;
}

bool Same(const YsbEvent& a, const YsbEvent& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

void Check(const std::string& line) {
  const auto outcome = ParseLine<YsbEvent>(line, ParseYsbJson{});
  const std::optional<YsbEvent> expected = Read(line);
  Require(outcome.parsed == (expected.has_value() ? engine::Parsed::kRecord : engine::Parsed::kBad),
          "a line is read if it is JSON with the seven fields, and refused otherwise");
  if (expected.has_value()) Require(Same(outcome.record, *expected), "every field has the value that is written");
}

UuidBytes DrawUuid(FuzzedDataProvider& input) {
  UuidBytes bytes{};
  for (std::uint8_t& byte : bytes) byte = input.ConsumeIntegral<std::uint8_t>();
  return bytes;
}

/// An event, and how it is written.
void CheckDrawn(FuzzedDataProvider& input) {
  YsbEvent event{};
  std::vector<std::string> fields;
  const auto write = [&](std::size_t field, const std::string& value) {
    fields.push_back(SpellString(input, kFields[field]) + SpellBlanks(input) + ":" + SpellBlanks(input) + value +
                     SpellBlanks(input));
  };
  const auto uuid = [&](std::size_t field, std::uint8_t(&bytes)[16]) {
    const UuidBytes drawn = DrawUuid(input);
    std::copy(drawn.begin(), drawn.end(), bytes);
    write(field, SpellString(input, SpellUuid(drawn, input.ConsumeBool())));
    return FirstBytesOf(drawn);
  };
  (void)uuid(0, event.user_id);
  (void)uuid(1, event.page_id);
  event.ad_id = uuid(2, event.ad_uuid);
  const auto ad_type = input.ConsumeIntegralInRange<std::size_t>(0, kAdTypes.size() - 1);
  event.ad_type = static_cast<AdType>(ad_type);
  write(3, SpellString(input, kAdTypes[ad_type]));
  const auto event_type = input.ConsumeIntegralInRange<std::size_t>(0, kEventTypes.size() - 1);
  event.event_type = static_cast<EventType>(event_type);
  write(4, SpellString(input, kEventTypes[event_type]));
  const auto time_ms = input.ConsumeIntegralInRange<std::int64_t>(0, kEndOf9999Ms);
  event.event_time_ms = time_ms;
  write(5, input.ConsumeBool() ? std::to_string(time_ms) : SpellString(input, std::to_string(time_ms)));
  const auto ip = input.ConsumeIntegral<std::uint32_t>();
  event.ip = ip;
  char address[16];
  std::snprintf(address, sizeof(address), "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
  write(6, SpellString(input, address));
  for (int others = input.ConsumeIntegralInRange<int>(0, 3); others > 0; --others) {
    fields.push_back(SpellString(input, others == 1 ? "other" : "ad_id ") + SpellBlanks(input) + ":" +
                     SpellBlanks(input) + SpellAnyValue(input) + SpellBlanks(input));
  }
  for (std::size_t i = fields.size() - 1; i > 0; --i) {
    std::swap(fields[i], fields[input.ConsumeIntegralInRange<std::size_t>(0, i)]);
  }
  std::string line = SpellBlanks(input) + "{" + SpellBlanks(input);
  for (const std::string& field : fields) line += field + "," + SpellBlanks(input);
  line.erase(line.rfind(','), 1);
  line += "}" + SpellBlanks(input);
  ParseYsbJson parse;
  const auto outcome = ParseLine<YsbEvent>(line, parse);
  Require(outcome.parsed == engine::Parsed::kRecord, "an event that was written by JSON's rules is read");
  Require(Same(outcome.record, event), "an event is read as the values that were written");
  // The parser numbers records from 0, and gives no number to a refused line.
  engine::ParseError error;
  YsbEvent numbered{};
  Require(parse("{", numbered, error) == engine::Parsed::kBad, "what ends in its middle is refused");
  for (std::uint64_t number = 0; number < 2; ++number) {
    Require(parse(line, numbered, error) == engine::Parsed::kRecord, "a line is read again");
    event.record_number = number;
    Require(Same(numbered, event), "records are numbered from 0");
  }
  Damage(input, line);
  Check(line);
}

}  // namespace
}  // namespace glaive::queries::ysb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  glaive::TestTextOrDrawn(data, size, glaive::queries::ysb::Check, glaive::queries::ysb::CheckDrawn);
  return 0;
}
