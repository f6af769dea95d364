#include "tests/fuzz/flags/flag_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "tests/fuzz/decimal.h"

namespace glaive::engine {
namespace {

constexpr FlagRule kRules[] = {
    {"keys", FlagKind::kInteger, 1, 18446744073709551615.0L},
    {"credits", FlagKind::kInteger, 2, 1024},
    {"rank", FlagKind::kInteger, 0, 4294967295.0L},
    {"slot-bytes", FlagKind::kSize, 256, 16777216},
    {"any-bytes", FlagKind::kSize, 0, 18446744073709551615.0L},
    {"interval", FlagKind::kDuration, 1e-6L, 3600},
    {"deadline", FlagKind::kDuration, 0, 31536000},
    {"share", FlagKind::kDouble, 0, 1},
    {"factor", FlagKind::kDouble, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()},
    {"verify", FlagKind::kSwitch},
    {"output", FlagKind::kText},
    {"color", FlagKind::kChoice}};

bool IsIn(long double value, const FlagRule& rule) { return value >= rule.least && value <= rule.most; }

/// Digits, at most 2^64 - 1 when multiplied.
std::optional<long double> ReadCount(std::string_view digits, long double unit) {
  long double value = 0;  // exact up to 2^64
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + static_cast<long double>(c - '0');
  }
  return digits.empty() || value * unit > 18446744073709551615.0L ? std::nullopt : std::optional(value * unit);
}

std::optional<long double> ReadInteger(std::string_view text) {
  long double unit = 1;
  if (text.ends_with('k')) unit = 1e3L;
  if (text.ends_with('M')) unit = 1e6L;
  if (text.ends_with('G')) unit = 1e9L;
  return ReadCount(text.substr(0, text.size() - (unit == 1 ? 0 : 1)), unit);
}

std::optional<long double> ReadSize(std::string_view text) {
  constexpr std::string_view kUnits[] = {"b", "kib", "mib", "gib", "tib"};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit(text.substr(digits));
  unit.erase(0, unit.find_first_not_of(" \t\n\v\f\r"));
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (unit.empty()) return ReadCount(text.substr(0, digits), 1);
  for (std::size_t i = 0; i < std::size(kUnits); ++i) {
    if (unit == kUnits[i]) return ReadCount(text.substr(0, digits), std::pow(1024.0L, static_cast<long double>(i)));
  }
  return std::nullopt;
}

std::optional<long double> ReadDouble(std::string text) {
  constexpr const char* kBlanks = " \t\n\v\f\r";
  text.erase(0, text.find_first_not_of(kBlanks));
  text.erase(text.find_last_not_of(kBlanks) + 1);
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::string digits = text.substr(has_sign ? 1 : 0);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  return IsDecimal(digits) || (is_hexadecimal && *end == '\0') ? std::optional<long double>(value) : std::nullopt;
}

std::optional<bool> ReadSwitch(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return std::nullopt;
}

}  // namespace

std::span<const FlagRule> FlagRules() { return kRules; }

const FlagRule* FindRule(std::string_view name) {
  for (const FlagRule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

CommandLineReading ReadCommandLine(const std::vector<std::string>& arguments) {
  CommandLineReading reading;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) {
      reading.help = reading.help || argument == "-h";
      reading.refused = true;
      continue;
    }
    const std::size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (char& c : name) c = c == '_' ? '-' : c;
    std::optional<std::string> text;
    if (equals != std::string::npos) text = argument.substr(equals + 1);
    reading.help = reading.help || (name == "help" && !text.has_value());
    reading.version = reading.version || (name == "version" && !text.has_value());
    const FlagRule* rule = FindRule(name);
    if (rule == nullptr && name == "no-verify" && !text.has_value()) {
      rule = FindRule("verify");
      text = "false";
    } else if (rule != nullptr && !text.has_value() && rule->kind == FlagKind::kSwitch) {
      text = "true";
    } else if (rule != nullptr && !text.has_value() && i + 1 < arguments.size()) {
      text = arguments[++i];
    }
    reading.refused = reading.refused || rule == nullptr || text.value_or("").empty();
    if (rule != nullptr) reading.texts[rule->name] = text.value_or("");
  }
  return reading;
}

std::optional<long double> ReadSeconds(std::string text) {
  constexpr std::pair<std::string_view, long double> kUnits[] = {{"ns", 1e-9L}, {"us", 1e-6L}, {"ms", 1e-3L},
                                                                 {"s", 1},      {"m", 60},     {"h", 3600}};
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.erase(0, 1);
  if (text.empty()) return std::nullopt;
  if (text == "0") return 0;
  if (text == "inf") return is_negative ? -HUGE_VALL : HUGE_VALL;
  long double seconds = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string number = text.substr(0, digits);
    if (!IsDecimal(number)) return std::nullopt;
    const std::string whole = number.substr(0, number.find('.'));
    if (std::strtold(whole.c_str(), nullptr) > 9223372036854775807.0L) return std::nullopt;
    text.erase(0, digits);
    const auto* unit = std::begin(kUnits);
    while (unit != std::end(kUnits) && !text.starts_with(unit->first)) ++unit;
    if (unit == std::end(kUnits)) return std::nullopt;
    text.erase(0, unit->first.size());
    seconds += std::strtold(number.c_str(), nullptr) * unit->second;
  }
  return is_negative ? -seconds : seconds;
}

std::optional<long double> ReadFlag(const FlagRule& rule, const std::string& text) {
  std::optional<long double> value;
  switch (rule.kind) {
    case FlagKind::kInteger:
      value = ReadInteger(text);
      break;
    case FlagKind::kSize:
      value = ReadSize(text);
      break;
    case FlagKind::kDuration:
      value = ReadSeconds(text);
      break;
    case FlagKind::kDouble:
      value = ReadDouble(text);
      break;
    case FlagKind::kSwitch: {
      const std::optional<bool> on = ReadSwitch(text);
      return on.has_value() ? std::optional<long double>(*on ? 1 : 0) : std::nullopt;
    }
    case FlagKind::kText:
      return 0;
    case FlagKind::kChoice:
      if (text == "red") return 0;
      if (text == "blue") return 1;
      return std::nullopt;
  }
  return value.has_value() && IsIn(*value, rule) ? value : std::nullopt;
}

}  // namespace glaive::engine
