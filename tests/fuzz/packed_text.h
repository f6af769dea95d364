// PackedText: a text as it lies in a message (state/record/text_wire.h), whose reference is mostly right.
//
//   std::uint32_t text_bytes = 0;                  // of the message's texts so far
//   const Text text = PackedText(input, text_bytes);
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "state/record/text.h"

namespace glaive {

/// Of up to 30 bytes, which are to be added behind the message's texts if they are too long for the text itself.
inline Text PackedText(FuzzedDataProvider& input, std::uint32_t& used) {
  static constexpr std::array<char, 64> kZeros{};
  const auto size = input.ConsumeIntegralInRange<std::uint32_t>(0, 30);
  const Text text(std::string_view(kZeros.data(), size));
  if (text.is_inline()) return text;
  used += size;
  return text.WithReference(input.ConsumeProbability<float>() < 0.98F ? used : input.ConsumeIntegral<std::uint32_t>());
}

}  // namespace glaive
