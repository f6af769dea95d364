// The tables of words count, and the hand-written loop over either emits what the oracle does.
#include "queries/wordcount/word_loop.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "queries/loops/loop_totals.h"
#include "queries/wordcount/generator.h"
#include "queries/wordcount/word_oracle.h"
#include "queries/wordcount/word_table.h"

namespace glaive::queries::wordcount {
namespace {

template <typename Cell>
class WordTableTest : public testing::Test {};
using Cells = testing::Types<WordView, WordInCell>;
TYPED_TEST_SUITE(WordTableTest, Cells);

TYPED_TEST(WordTableTest, CountsAsManyWordsAsItWasMadeFor) {
  for (const std::uint64_t words : {1U, 2U, 3U, 1'000U, 1'025U}) {
    absl::StatusOr<WordTable<TypeParam>> table = WordTable<TypeParam>::Create(words);
    ASSERT_TRUE(table.ok()) << table.status();
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < words; ++i) {
      all.push_back("word" + std::to_string(i));
    }
    for (std::uint64_t i = 0; i < 3 * words; ++i) {
      table->Count(all[i % words]);
    }
    std::map<std::string, std::uint64_t> counts;
    table->ForEach([&](std::string_view word, std::uint64_t count) { counts[std::string(word)] = count; });
    EXPECT_EQ(counts.size(), words);
    for (const auto& [word, count] : counts) {
      EXPECT_EQ(count, 3U) << word;
    }
  }
}

TYPED_TEST(WordTableTest, TellsWordsOfAllLengthsApart) {
  absl::StatusOr<WordTable<TypeParam>> table = WordTable<TypeParam>::Create(1'000);
  ASSERT_TRUE(table.ok()) << table.status();
  std::map<std::string, std::uint64_t> expected;
  std::vector<std::string> words;
  for (std::size_t length = 1; length <= 40; ++length) {
    for (const std::size_t changed : {length, std::size_t{0}, length / 2, length - 1}) {
      words.emplace_back(length, 'a');
      if (changed < length) {
        words.back()[changed] = 'b';
      }
    }
  }
  for (const std::string& word : words) {
    table->Count(word);
    ++expected[word];
  }
  std::map<std::string, std::uint64_t> counts;
  table->ForEach([&](std::string_view word, std::uint64_t count) { counts[std::string(word)] += count; });
  EXPECT_EQ(counts, expected);
}

TYPED_TEST(WordTableTest, AnAbsurdNumberOfWordsIsRefused) {
  EXPECT_EQ(WordTable<TypeParam>::Create(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(WordTable<TypeParam>::Create(UINT64_MAX).status().code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(WordTableTest, ALoopOverItEmitsWhatTheOracleExpects) {
  constexpr std::uint64_t kLines = 2'000;
  constexpr std::uint64_t kRepetitions = 3;
  const LineGenerator generator({.keys = {.count = 500, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1}}});
  std::vector<TextLine> lines(kLines);
  generator.Fill(0, 0, lines);
  absl::StatusOr<WordLoop<TypeParam>> loop = WordLoop<TypeParam>::Create(500);
  ASSERT_TRUE(loop.ok()) << loop.status();
  const Totals emitted = LoopTotals(*loop, lines, {.repetitions = kRepetitions, .batch_records = 300});
  const absl::StatusOr<WordCounts> counts = CountGeneratedWords({.generator = &generator,
                                                                 .event_time_ms = TextLineTime{},
                                                                 .record_counts = {kLines * kRepetitions},
                                                                 .block_records = kLines},
                                                                /*window_ms=*/0, GoOn);
  ASSERT_TRUE(counts.ok()) << counts.status();
  const Totals expected = CheckWords("wordcount", *counts, 0, {}, [](const std::string&) { return false; }).expected;
  EXPECT_EQ(CheckTotals("wordcount", expected, emitted), absl::OkStatus());
}

}  // namespace
}  // namespace glaive::queries::wordcount
