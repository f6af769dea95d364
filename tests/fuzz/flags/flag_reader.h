// A slow reader of command lines, which shares no code with the one of engine/flags: what a program with a flag of
// every kind has to make of a command line.
//
// Numbers are long doubles, which hold all 64-bit numbers and all doubles exactly.
//
//   const CommandLineReading reading = ReadCommandLine({"--keys=3k"});
//   ReadFlag(*FindRule("keys"), reading.texts.at("keys"));  // 3000
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glaive::engine {

enum class FlagKind : std::uint8_t { kInteger, kSize, kDuration, kDouble, kSwitch, kText, kChoice };

/// A flag, with the bounds of its value; those of times are in seconds.
struct FlagRule {
  const char* name;
  FlagKind kind;
  long double least = 0;
  long double most = 0;
};

/// The flags of the program: see there.
std::span<const FlagRule> FlagRules();
const FlagRule* FindRule(std::string_view name);

struct CommandLineReading {
  bool help = false;
  bool version = false;
  bool refused = false;                      // for another reason than a value
  std::map<std::string, std::string> texts;  // by flag, the last of each
};

CommandLineReading ReadCommandLine(const std::vector<std::string>& arguments);

/// Numbers with units, perhaps behind a sign, in seconds; infinite ones too.
std::optional<long double> ReadSeconds(std::string text);

/// The value as one number (of switches 0 and 1, of choices their place, of text 0) if the flag may have it.
std::optional<long double> ReadFlag(const FlagRule& rule, const std::string& text);

}  // namespace glaive::engine
