// TextLine: a generated line of text with its event time, in 128 bytes. Plain data: its words refer to its own bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace glaive::queries::wordcount {

struct TextLine {
  static constexpr std::size_t kMostBytes = 116;

  std::string_view text() const { return {bytes.data(), length}; }

  std::int64_t event_time_ms;  // since 1970
  std::uint32_t length;
  std::array<char, kMostBytes> bytes;  // zeros behind `length`
};

static_assert(sizeof(TextLine) == 128 && std::is_trivially_copyable_v<TextLine>);

struct TextLineTime {
  std::int64_t operator()(const TextLine& line) const { return line.event_time_ms; }
};

}  // namespace glaive::queries::wordcount
