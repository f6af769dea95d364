// Hashtag: a word that somebody has posted, with its event time, in 32 bytes. Plain data: its text is its own bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace glaive::queries::top_words {

struct Hashtag {
  static constexpr std::size_t kMostBytes = 20;

  std::string_view word() const { return {bytes.data(), length}; }

  std::int64_t event_time_ms;  // since 1970
  std::uint32_t length;
  std::array<char, kMostBytes> bytes;  // zeros behind `length`
};

static_assert(sizeof(Hashtag) == 32 && std::is_trivially_copyable_v<Hashtag>);

struct HashtagTime {
  std::int64_t operator()(const Hashtag& tag) const { return tag.event_time_ms; }
};

}  // namespace glaive::queries::top_words
