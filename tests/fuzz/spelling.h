// Spellings: the ways in which one value may be written, drawn from a fuzzer's input; and damage to a text.
//
// `Input` is libFuzzer's FuzzedDataProvider, which only clang has, so it is a parameter.
//
//   line += SpellWhole(input, 7);  // "7" or "007"
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace glaive {

/// A whole number, perhaps behind some zeros.
template <typename Input>
std::string SpellWhole(Input& input, std::uint64_t value) {
  const auto zeros = input.template ConsumeIntegralInRange<std::size_t>(0, 15);
  return std::string(zeros < 12 ? 0 : 3 * (zeros - 11), '0') + std::to_string(value);
}

/// A float that is not negative, with enough digits to be that float: nine, more, or all that it has.
template <typename Input>
std::string SpellFloat(Input& input, float value) {
  char text[400];
  const int digits = input.template ConsumeIntegralInRange<int>(9, 60);
  switch (input.template ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      std::snprintf(text, sizeof(text), "%.*e", digits, static_cast<double>(value));
      break;
    case 1:
      std::snprintf(text, sizeof(text), "%.*G", digits, static_cast<double>(value));
      break;
    case 2:
      std::snprintf(text, sizeof(text), "%.160f", static_cast<double>(value));
      break;
    default:
      std::snprintf(text, sizeof(text), "0000%.9g", static_cast<double>(value));
  }
  return text;
}

/// Changes some bytes: replaces, inserts, drops, cuts off, appends, repeats.
template <typename Input>
void Damage(Input& input, std::string& text) {
  for (int left = input.template ConsumeIntegralInRange<int>(0, 3); left > 0 && !text.empty(); --left) {
    const auto at = input.template ConsumeIntegralInRange<std::size_t>(0, text.size() - 1);
    const auto byte = static_cast<char>(input.template ConsumeIntegral<std::uint8_t>());
    switch (input.template ConsumeIntegralInRange<int>(0, 5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.push_back(byte);
        break;
      default:
        text.insert(at, text.substr(at, static_cast<std::uint8_t>(byte)));
    }
  }
}

}  // namespace glaive
