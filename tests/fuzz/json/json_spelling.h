// JSON as it may be written: one value in one of its spellings, drawn from a fuzzer's input. Its own code: nothing of
// the library that the parsers use.
//
// `Input` is libFuzzer's FuzzedDataProvider, which only clang has, so it is a parameter.
//
//   line += SpellString(input, "view");  // "view" or "v\u0069ew"
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace glaive {

/// Blanks that may stand between tokens of one line.
template <typename Input>
std::string SpellBlanks(Input& input) {
  constexpr std::string_view kBlanks[] = {"", "", "", "", " ", " ", "\t", "  \t ", "\r"};
  return std::string(input.PickValueInArray(kBlanks));
}

/// A string of ASCII characters, some of them as escapes.
template <typename Input>
std::string SpellString(Input& input, std::string_view text) {
  std::string spelled = "\"";
  const bool plain = input.ConsumeBool();
  for (const char c : text) {
    const bool must = c == '"' || c == '\\' || static_cast<std::uint8_t>(c) < 0x20;
    if (must || (!plain && input.ConsumeBool())) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), input.ConsumeBool() ? "\\u%04x" : "\\u%04X",
                    static_cast<unsigned>(static_cast<std::uint8_t>(c)));
      spelled += escape;
    } else {
      spelled += c;
    }
  }
  return spelled + '"';
}

/// Any value, with few levels.
template <typename Input>
std::string SpellAnyValue(Input& input, int levels = 3) {
  constexpr std::string_view kScalars[] = {"true",
                                           "false",
                                           "null",
                                           "0",
                                           "-0",
                                           "-1.5",
                                           "1E400",
                                           "-2e-999",
                                           "12345678901234567890123",
                                           "0.0e+0",
                                           R"("")",
                                           R"("\ud83d\ude00 \" \\ \/ \b\f\n\r\t")",
                                           "\"\xc3\xa9\xf0\x9f\x98\x80\""};
  std::string value;
  const int kind = levels == 0 ? 0 : input.template ConsumeIntegralInRange<int>(0, 3);
  if (kind < 2) return std::string(input.PickValueInArray(kScalars));
  for (int left = input.template ConsumeIntegralInRange<int>(0, 3); left > 0; --left) {
    value += value.empty() ? "" : ",";
    value += SpellBlanks(input);
    if (kind == 3)
      value += SpellString(input, left == 1 ? "ad_id" : "x") + SpellBlanks(input) + ":" + SpellBlanks(input);
    value += SpellAnyValue(input, levels - 1) + SpellBlanks(input);
  }
  return kind == 2 ? "[" + value + "]" : "{" + value + "}";
}

}  // namespace glaive
