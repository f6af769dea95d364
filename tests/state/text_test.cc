// Text: what a text of each length is, how two compare, and what stands in the place of an address.

#include "state/record/text.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include <gtest/gtest.h>

namespace glaive {
namespace {

std::string Letters(std::size_t count) {
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) letters += static_cast<char>('a' + i % 26);
  return letters;
}

TEST(Text, HasTheBytesThatItWasMadeOf) {
  for (const std::size_t length : {0, 1, 3, 4, 5, 11, 12, 13, 16, 100, 100'000}) {
    const std::string letters = Letters(length);
    const Text text{std::string_view(letters)};
    const Text copy = text;
    EXPECT_EQ(copy.view(), letters);
    EXPECT_EQ(copy.size(), length);
    EXPECT_EQ(copy.empty(), length == 0);
    EXPECT_EQ(copy.is_inline(), length <= 12);
    EXPECT_EQ(copy.is_inline(), copy.view().data() != letters.data() || length == 0) << "a long text refers to them";
  }
}

TEST(Text, OfAnyBytesAndOfNone) {
  const std::string bytes("\0\xFF\n\0\"", 5);
  EXPECT_EQ(Text(std::string_view(bytes)).view(), bytes);
  EXPECT_EQ(Text(std::string_view()), Text());
  EXPECT_EQ(Text("page").view(), "page");
}

/// Each pair differs in one place: in the length, in the first bytes, behind them, in the last byte.
TEST(Text, IsEqualToTheSameBytesAndLessThanGreaterOnes) {
  std::set<std::string> all = {"", std::string(1, '\0'), std::string(12, '\0'), std::string(13, '\0')};
  for (const std::size_t length : {1, 4, 5, 12, 13, 14, 40}) {
    for (const std::size_t place : {std::size_t{0}, length / 2, length - 1}) {
      for (const char other : {'\0', 'A', 'z', '\xFF'}) {
        std::string bytes = Letters(length);
        all.insert(bytes);
        bytes[place] = other;
        all.insert(bytes);
      }
    }
  }
  const std::vector<std::string> list(all.begin(), all.end());
  for (const std::string& a : list) {
    for (const std::string& b : list) {
      const std::string elsewhere(b.begin(), b.end());
      const Text text_a{std::string_view(a)};
      const Text text_b{std::string_view(elsewhere)};
      EXPECT_EQ(text_a == text_b, a == b) << a << " and " << b;
      EXPECT_EQ(text_a < text_b, a < b) << a << " and " << b;
      EXPECT_EQ(text_a > text_b, a > b) << a << " and " << b;
      if (a == b) EXPECT_EQ(absl::HashOf(text_a), absl::HashOf(text_b));
    }
  }
}

TEST(Text, HasAReferenceInThePlaceOfItsAddress) {
  const std::string letters = Letters(40);
  const Text text = Text(std::string_view(letters)).WithReference(77);
  EXPECT_EQ(text.reference(), 77U);
  EXPECT_EQ(text.size(), 40U);
  EXPECT_EQ(Text(std::string_view(letters)).reference(), reinterpret_cast<std::uintptr_t>(letters.data()));
}

TEST(Text, KnowsWhetherThereAreZerosBehindItsBytes) {
  EXPECT_TRUE(Text().HasZerosBehind());
  EXPECT_TRUE(Text("abc").HasZerosBehind());
  EXPECT_TRUE(Text("twelve bytes").HasZerosBehind());
  for (std::size_t place = 3; place < Text::kMostInline; ++place) {
    Text text("abc");
    unsigned char bytes[sizeof(text)];
    std::memcpy(bytes, &text, sizeof(text));
    bytes[sizeof(std::uint32_t) + place] = 1;
    std::memcpy(static_cast<void*>(&text), bytes, sizeof(text));
    EXPECT_FALSE(text.HasZerosBehind()) << place;
  }
}

}  // namespace
}  // namespace glaive
