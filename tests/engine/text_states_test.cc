// States with texts, of keys, of all records and of executors: they are copies of what the records had, and take no
// more memory than the texts that there are.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/text_words.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// A text and the one before it.
struct WordAt {
  std::uint64_t key;
  Text before;
  Text text;
};
GLAIVE_RECORD(WordAt, key, before, text)

constexpr std::string_view kNone = "no text has come before";

/// The state is the last text.
WordAt StepOf(Text& last, const Word& word) {
  return {.key = word.key, .before = std::exchange(last, word.text), .text = word.text};
}

/// The last two texts, and the greatest among the ends of all.
struct Latest {
  Text last;
  std::optional<Text> before;
  Text part;
  std::uint64_t words = 0;
};
GLAIVE_RECORD(Latest, last, before, part, words)

void AddLatest(Latest& latest, const Word& word) {
  const std::string_view text = word.text.view();
  const Text part(text.substr(text.size() / 3));
  latest.before = latest.words == 0 ? std::optional<Text>() : latest.last;
  latest.last = word.text;
  latest.part = std::max(latest.part, part);
  ++latest.words;
}

class TextStates : public OnEachShape {
 protected:
  Workload few_words() const {
    Workload few = workload();
    few.records = 5'000;
    return few;
  }
  absl::Status RunQuery(const Query& query) {
    metrics_.clear();
    return RunNodes(few_words(), query, metrics_);
  }

  std::vector<ExecutorMetrics> metrics_;
};
GLAIVE_ON_EACH_SHAPE(TextStates);

/// In whichever order the records of a key come, each text but the last is once before another.
TEST_P(TextStates, OfKeysHaveTheTextOfTheRecordBefore) {
  std::vector<std::vector<WordAt>> rows(executors());
  CollectedTexts texts(executors());
  ASSERT_TRUE(
      RunQuery(*Words(few_words()).KeyBy(&Word::key).RichMap(Text(kNone), &StepOf).To(Collect(rows, texts))).ok());
  std::map<std::uint64_t, std::multiset<std::string>> came;
  std::map<std::uint64_t, std::multiset<std::string>> expected;
  for (const Word& word : AllWords(few_words())) expected[word.key].emplace(word.text.view());
  for (const auto& share : rows) {
    for (const WordAt& step : share) came[step.key].emplace(step.text.view());
  }
  EXPECT_TRUE(SameElements(came, expected));
  for (const auto& share : rows) {
    std::map<std::uint64_t, std::string> last;  // a key's rows are on one executor, in the order of its records
    for (const WordAt& step : share) {
      const auto found = last.find(step.key);
      ASSERT_EQ(step.before.view(), found == last.end() ? kNone : found->second);
      last[step.key] = step.text.view();
    }
  }
  for (const ExecutorMetrics& each : metrics_) EXPECT_LT(each.state_bytes, 256U << 10) << "of a hundred texts";
}

TEST_P(TextStates, OfExecutorsHaveTheTextOfTheRecordBefore) {
  std::vector<std::vector<WordAt>> rows(executors());
  CollectedTexts texts(executors());
  ASSERT_TRUE(RunQuery(*Words(few_words())
                            .RichFilterMap(Text(kNone),
                                           [](Text& last, const Word& word) {
                                             const WordAt step = StepOf(last, word);
                                             return step.key % 3 == 0 ? std::optional(step) : std::nullopt;
                                           })
                            .To(Collect(rows, texts)))
                  .ok());
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    std::string last(kNone);
    std::size_t row = 0;
    for (std::uint64_t number = 0; number < few_words().records; ++number) {
      const Word word = WordOf(MakeRecord(few_words(), executor, number));
      const std::string before = std::exchange(last, std::string(word.text.view()));
      if (word.key % 3 != 0) continue;
      ASSERT_LT(row, rows[executor].size());
      ASSERT_EQ(rows[executor][row].before.view(), before);
      ASSERT_EQ(rows[executor][row].text.view(), last);
      ++row;
    }
    EXPECT_EQ(row, rows[executor].size());
  }
  for (const ExecutorMetrics& each : metrics_) EXPECT_LT(each.state_bytes, 64U << 10) << "of one text";
}

/// With two texts, one of which moves, and a part of a third.
TEST_P(TextStates, AreRowsAtTheEndAndBehindEachRecord) {
  using Row = WindowResult<std::uint64_t, Latest>;
  std::map<std::uint64_t, std::string> parts;
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Word& word : AllWords(few_words())) {
    std::string& part = parts[word.key];
    part = std::max(part, std::string(word.text.view().substr(word.text.size() / 3)));
    ++counts[word.key];
  }
  const auto expect = [&](std::uint64_t key, const Latest& latest) {
    EXPECT_EQ(latest.part.view(), parts[key]);
    EXPECT_EQ(latest.words, counts[key]);
    EXPECT_TRUE(latest.last.view().empty() || latest.last.view()[0] == '/' || latest.last.view()[0] == 'h');
    EXPECT_EQ(latest.before.has_value(), latest.words > 1);
  };

  std::vector<std::vector<Row>> folded(executors());
  CollectedTexts texts(executors());
  ASSERT_TRUE(
      RunQuery(*Words(few_words()).KeyBy(&Word::key).Fold(Latest{}, &AddLatest).To(Collect(folded, texts))).ok());
  std::size_t keys = 0;
  for (const auto& share : folded) {
    for (const Row& row : share) expect(row.key, row.value);
    keys += share.size();
  }
  EXPECT_EQ(keys, parts.size());

  std::vector<std::vector<KeyedState<std::uint64_t, Latest>>> scanned(executors());
  CollectedTexts scanned_texts(executors());
  ASSERT_TRUE(
      RunQuery(*Words(few_words()).KeyBy(&Word::key).Scan(Latest{}, &AddLatest).To(Collect(scanned, scanned_texts)))
          .ok());
  std::size_t count = 0;
  for (const auto& share : scanned) {
    std::map<std::uint64_t, Latest> last;
    for (const auto& row : share) {
      const auto found = last.find(row.key);
      if (found != last.end()) {
        ASSERT_EQ(row.value.before, found->second.last);
        ASSERT_EQ(row.value.words, found->second.words + 1);
      }
      last[row.key] = row.value;
    }
    for (const auto& [key, latest] : last) expect(key, latest);
    count += share.size();
  }
  EXPECT_EQ(count, executors() * few_words().records);
}

TEST_P(TextStates, OfAllRecordsAreAtOneExecutor) {
  using Row = WindowResult<AllRecords, Word>;
  std::vector<std::vector<Row>> reduced(executors());
  CollectedTexts texts(executors());
  ASSERT_TRUE(RunQuery(*Words(few_words())
                            .Reduce([](Word& most, const Word& word) { most = std::max(most, word); })
                            .To(Collect(reduced, texts)))
                  .ok());
  const Word most = std::ranges::max(AllWords(few_words()));
  ASSERT_EQ(reduced[0].size(), 1U);
  EXPECT_EQ(reduced[0][0].value, most);

  std::vector<std::vector<Word>> scanned(executors());
  CollectedTexts scanned_texts(executors());
  ASSERT_TRUE(RunQuery(*Words(few_words())
                            .Scan(Word{}, [](Word& state, const Word& word) { state = std::max(state, word); })
                            .To(Collect(scanned, scanned_texts)))
                  .ok());
  ASSERT_EQ(scanned[0].size(), executors() * few_words().records);
  EXPECT_TRUE(std::ranges::is_sorted(scanned[0]));
  EXPECT_EQ(scanned[0].back(), most);
}

TEST(TextStatesMemory, IsTheRunsBudget) {
  Workload workload{.records = 20'000, .keys = std::uint64_t{1} << 40};
  workload.state_limit_bytes = std::uint64_t{4} << 20;
  const std::string text(2'000, 'l');
  const auto long_words = From(TestSource(workload)).Map([&](const TestRecord& record) {
    return Word{.key = record.key, .time_ms = record.event_time_ms, .text = Text(std::string_view(text))};
  });
  std::vector<ExecutorMetrics> metrics;
  const absl::Status of_keys = RunExecutors(
      workload, *Stream(long_words).KeyBy(&Word::key).Fold(Latest{}, &AddLatest).To(Discard{}), 1, metrics);
  EXPECT_EQ(of_keys.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(of_keys.message()), HasSubstr("; the fold by key stores "));

  const std::string endless(std::size_t{8} << 20, 'e');
  const absl::Status of_executor = RunExecutors(
      workload,
      *From(TestSource(workload))
           .RichMap(Text(),
                    [&](Text& state, const TestRecord& record) { return state = std::string_view(endless), record; })
           .To(Discard{}),
      1, metrics);
  EXPECT_EQ(of_executor.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(of_executor.message()), HasSubstr("; the state of the rich map has texts of 0"));
}

}  // namespace
}  // namespace glaive::engine
