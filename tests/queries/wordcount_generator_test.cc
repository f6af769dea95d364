#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/common/vocabulary.h"
#include "queries/wordcount/generator.h"
#include "queries/wordcount/words.h"
#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::wordcount {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> WordsIn(std::string_view text) {
  std::vector<std::string> words;
  for (const Text& word : Words(text)) {
    words.emplace_back(word.view());
  }
  return words;
}

std::unique_ptr<Generator<TextLine>> MakeLines(const InputOptions& input) {
  return std::make_unique<LineGenerator>(input);
}

TEST(WordsTest, AreTheLongestRunsOfLettersDigitsAndBytesBeyondAscii) {
  EXPECT_THAT(WordsIn("Don't panic: 42 na\xC3\xAFve mice"),
              ElementsAre("Don", "t", "panic", "42", "na\xC3\xAFve", "mice"));
  EXPECT_THAT(WordsIn("  a,b  "), ElementsAre("a", "b"));
  EXPECT_THAT(WordsIn("@Az[`az{/09:\x7F\x80\xFF"), ElementsAre("Az", "az", "09", "\x80\xFF"));
  EXPECT_THAT(WordsIn(std::string_view("a\0b", 3)), ElementsAre("a", "b"));
  EXPECT_THAT(WordsIn(""), IsEmpty());
  EXPECT_THAT(WordsIn(" .\t\r"), IsEmpty());
}

TEST(WordsTest, ReferToTheText) {
  const std::string text = "an incomprehensible word";
  for (const Text& word : Words(text)) {
    if (!word.is_inline()) {
      EXPECT_EQ(word.view().data(), text.data() + 3);
      return;
    }
  }
  ADD_FAILURE() << "no word is long";
}

TEST(VocabularyTest, NoTwoWordsAreTheSame) {
  constexpr std::uint64_t kWords = 200'000;
  std::set<std::string> words;
  for (std::uint64_t number = 1; number <= kWords; ++number) {
    words.emplace(WordOf(number).view());
  }
  for (std::uint64_t number = kMaxKeys - 1'000; number < kMaxKeys; ++number) {
    words.emplace(WordOf(number + 1).view());
  }
  EXPECT_EQ(words.size(), kWords + 1'000);
}

TEST(VocabularyTest, MostWordsHaveTwoToTwelveBytesAndSomeMore) {
  constexpr std::uint64_t kWords = 100'000;
  std::array<std::uint64_t, 25> lengths{};
  for (std::uint64_t number = 1; number <= kWords; ++number) {
    const GeneratedWord made = WordOf(number);
    const std::string_view word = made.view();
    ASSERT_THAT(WordsIn(word), ElementsAre(word));
    ++lengths.at(word.size());
  }
  std::uint64_t long_ones = 0;
  for (std::size_t length = Text::kMostInline + 1; length < lengths.size(); ++length) {
    long_ones += lengths[length];
  }
  EXPECT_EQ(lengths[0] + lengths[1], 0U);
  EXPECT_GT(long_ones, kWords / 20);
  EXPECT_LT(long_ones, kWords / 6);
}

TEST(LineGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = 1'000, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1}}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<TextLine>(LineGenerator(input));
}

TEST(LineGeneratorTest, SeedsAndExecutorsDrawDifferentLines) {
  const auto full = [](std::uint64_t seed, std::uint32_t executor) {
    std::set<std::string> lines;
    for (const TextLine& line :
         FirstRecords<TextLine>(LineGenerator({.seed = seed, .keys = {.count = 1'000'000}}), 1'000, executor)) {
      if (line.length > TextLine::kMostBytes / 2) {
        lines.emplace(line.text());
      }
    }
    return lines;
  };
  std::set<std::string> all;
  std::size_t lines = 0;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::uint32_t executor : {0U, 1U, 159U}) {
      const std::set<std::string> these = full(seed, executor);
      EXPECT_GT(these.size(), 900U);
      lines += these.size();
      all.insert(these.begin(), these.end());
    }
  }
  EXPECT_EQ(all.size(), lines);
}

TEST(LineGeneratorTest, EventTimesAreTheTimelines) {
  ExpectEventTimesOfTheTimeline<TextLine>(MakeLines, TextLineTime{});
}

TEST(LineGeneratorTest, WordsFollowTheOptionsKeys) {
  const KeyOptions keys{.count = 3, .hot_share = 0.5};
  std::map<std::string, std::uint64_t> words;
  std::uint64_t all = 0;
  for (const TextLine& line : FirstRecords<TextLine>(LineGenerator({.keys = keys}), 10'000)) {
    for (const std::string& word : WordsIn(line.text())) {
      ++words[word];
      ++all;
    }
  }
  ASSERT_EQ(words.size(), 3U);
  EXPECT_GT(all, 100'000U);
  // The word that would not fit ends a line, so long ones are a little rarer than they are drawn.
  EXPECT_NEAR(static_cast<double>(words[std::string(WordOf(1).view())]) / static_cast<double>(all), 2.0 / 3, 0.03);
}

TEST(LineGeneratorTest, LinesAreFullButForAFewAndHaveNoQuotes) {
  std::uint64_t full = 0;
  constexpr std::uint64_t kLines = 10'000;
  for (const TextLine& line : FirstRecords<TextLine>(LineGenerator({.keys = {.count = 100'000}}), kLines)) {
    full += line.length > TextLine::kMostBytes - 24 ? 1 : 0;
    ASSERT_EQ(line.text().find_first_of("\"\n\r"), std::string_view::npos);
    for (std::size_t i = line.length; i < TextLine::kMostBytes; ++i) {
      ASSERT_EQ(line.bytes.at(i), '\0');
    }
  }
  EXPECT_GT(full, kLines * 9 / 10);
  EXPECT_LT(full, kLines * 97 / 100);
}

}  // namespace
}  // namespace glaive::queries::wordcount
