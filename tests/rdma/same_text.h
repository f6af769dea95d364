// SameText: whether two long texts are equal; if not, where they differ first.
//
// A failed EXPECT_EQ of two texts of a MiB prints both.
//
//   EXPECT_TRUE(SameText(*ReadAll(path), text));
//
//     1048576 bytes, 1048577 expected; they differ from byte 20 on: "fox jumps", not "fox  jumps"
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace glaive {

/// So many bytes of either text are printed, some of them from before the first difference.
inline constexpr std::size_t kMostBytesPrinted = 60;
inline constexpr std::size_t kEqualBytesPrinted = 20;

inline ::testing::AssertionResult SameText(std::string_view found, std::string_view expected) {
  if (found == expected) {
    return ::testing::AssertionSuccess() << found.size() << " bytes";
  }
  const auto difference = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first;
  const auto byte = static_cast<std::size_t>(difference - found.begin());
  const std::size_t first = byte - std::min(byte, kEqualBytesPrinted);
  const auto part_of = [first](std::string_view text) {
    return ::testing::PrintToString(std::string(text.substr(first, kMostBytesPrinted)));
  };
  return ::testing::AssertionFailure() << found.size() << " bytes, " << expected.size()
                                       << " expected; they differ from byte " << byte << " on: " << part_of(found)
                                       << ", not " << part_of(expected);
}

}  // namespace glaive
