// Aggregates of texts and of records with texts, in all kinds of windows: what they choose, and that the texts of
// values and rows are copies.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/format/json_text.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/text_words.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// The least text, and the text of the last word.
struct Ends {
  Text least;
  Word last;
  std::uint64_t words = 0;

  friend bool operator==(const Ends&, const Ends&) = default;
};
GLAIVE_RECORD(Ends, least, last, words)

void AddWord(Ends& ends, const Word& word) {
  ends.least = ends.words == 0 ? word.text : std::min(ends.least, word.text);
  ends.last = ends.words == 0 ? word : std::max(ends.last, word, [](const Word& a, const Word& b) {
    return std::pair(a.time_ms, a.text) < std::pair(b.time_ms, b.text);
  });
  ++ends.words;
}
void AddEnds(Ends& ends, const Ends& other) {
  if (other.words == 0) return;
  const std::uint64_t words = ends.words;
  Ends sum = ends;
  AddWord(sum, other.last);
  sum.least = words == 0 ? other.least : std::min(ends.least, other.least);
  sum.words = words + other.words;
  ends = sum;
}

/// Each aggregate of texts.
auto AllOfTexts() {
  return Several{First{&Word::time_ms, &Word::text},
                 Last{&Word::text, &Word::time_ms},
                 Min{&Word::text},
                 Max{&Word::text},
                 TopK<3>(&Word::text),
                 FoldAssoc(
                     Ends{}, [](Ends& ends, const Word& word) { AddWord(ends, word); },
                     [](Ends& ends, const Ends& other) { AddEnds(ends, other); }),
                 ReduceAssoc([](const Word& a, const Word& b) { return std::max(a, b); })};
}

std::string JsonOf(const Word& word) {
  return absl::StrCat("{\"key\":", word.key, ",\"time_ms\":", word.time_ms, ",\"text\":", InQuotes(word.text), "}");
}

/// The same as the rows have it, of words in the order of their times.
std::string ExpectedJson(const std::vector<Word>& words) {
  std::vector<Text> texts;
  for (const Word& word : words) texts.push_back(word.text);
  std::ranges::sort(texts, std::greater<>());
  const auto earlier = [](const Word& a, const Word& b) {
    return std::pair(a.time_ms, a.text) < std::pair(b.time_ms, b.text);
  };
  const auto by_text = [](const Word& a, const Word& b) {
    return std::pair(a.text, a.time_ms) < std::pair(b.text, b.time_ms);
  };
  std::string top;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, texts.size()); ++i) {
    top += (i == 0 ? "" : ",") + InQuotes(texts[i]);
  }
  return absl::StrCat("[", InQuotes(std::ranges::min(words, earlier).text), ",",
                      std::ranges::max(words, by_text).time_ms, ",", InQuotes(texts.back()), ",",
                      InQuotes(texts.front()), ",[", top, "],{\"least\":", InQuotes(texts.back()),
                      ",\"last\":", JsonOf(std::ranges::max(words, earlier)), ",\"words\":", words.size(), "},",
                      JsonOf(std::ranges::max(words)), "]");
}

class TextValues : public OnEachShape {
 protected:
  Workload few_words() const {
    Workload few = workload();
    few.records = 4'000;
    return few;
  }
  ClusterOutcome RunFew(const Query& query) const {
    ClusterOutcome outcome;
    outcome.status = RunNodes(few_words(), query, outcome.metrics);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome;
  }

  template <typename W>
  void ExpectInWindows(const W& window, const WordGroups& groups) const {
    auto stream = Words(few_words()).KeyBy(&Word::key).Window(window).Aggregate(AllOfTexts());
    using Row = typename decltype(stream)::Record;
    std::vector<std::vector<Row>> rows(executors());
    CollectedTexts texts(executors());
    RunFew(*std::move(stream).To(Collect(rows, texts)));
    std::map<WordGroup, std::string> expected;
    for (const auto& [group, words] : groups) expected[group] = ExpectedJson(words);
    std::map<WordGroup, std::string> found;
    std::size_t count = 0;
    for (const auto& share : rows) {
      for (const Row& row : share) {
        AppendJson(found[{row.window_start_ms, row.window_end_ms, row.key}], row.value);
        ++count;
      }
    }
    EXPECT_TRUE(SameElements(found, expected));
    EXPECT_EQ(count, expected.size());
  }
};
GLAIVE_ON_EACH_SHAPE(TextValues);

TEST_P(TextValues, InTumblingWindows) {
  ExpectInWindows(Tumbling{absl::Milliseconds(700)}, TumblingWords(AllWords(few_words()), 700));
}
TEST_P(TextValues, InSlidingWindows) {
  ExpectInWindows(Sliding{absl::Milliseconds(900), absl::Milliseconds(300)},
                  SlidingWords(AllWords(few_words()), 900, 300));
}
TEST_P(TextValues, InSessions) {
  ExpectInWindows(Session{absl::Milliseconds(60)}, SessionsOfWords(AllWords(few_words()), 60));
}
TEST_P(TextValues, WithoutWindows) { ExpectInWindows(Unbounded{}, WordsByKey(AllWords(few_words()))); }
TEST_P(TextValues, WithoutWindowsNowAndThen) {
  ExpectInWindows(Unbounded{absl::Milliseconds(800)}, WordsAsOf(AllWords(few_words()), 800));
}

/// Each key has one window, of many parts: the order in which executors bring the words does not matter.
TEST_P(TextValues, InWindowsByOrder) {
  auto stream =
      Words(few_words()).KeyBy(&Word::key).Window(CountWindow{.size = 100'000, .slide = 10}).Aggregate(AllOfTexts());
  using NumberedRow = typename decltype(stream)::Record;
  std::vector<std::vector<NumberedRow>> rows(executors());
  CollectedTexts texts(executors());
  RunFew(*std::move(stream).To(Collect(rows, texts)));
  std::map<std::uint64_t, std::string> expected;
  for (const auto& [group, words] : WordsByKey(AllWords(few_words()))) {
    expected[std::get<2>(group)] = absl::StrCat(words.size(), ExpectedJson(words));
  }
  std::map<std::uint64_t, std::string> found;
  for (const auto& share : rows) {
    for (const NumberedRow& row : share) {
      absl::StrAppend(&found[row.key], row.records);
      AppendJson(found[row.key], row.value);
    }
  }
  EXPECT_TRUE(SameElements(found, expected));
}

/// Beside a Distinct, whose table has a value for each element.
TEST_P(TextValues, BesideElements) {
  auto stream = Words(few_words())
                    .KeyBy(&Word::key)
                    .Window(Sliding{absl::Milliseconds(900), absl::Milliseconds(300)})
                    .Aggregate(Several{Distinct{&Word::text}, Max{&Word::text}, Last{&Word::time_ms, &Word::text}});
  using Row = typename decltype(stream)::Record;
  std::vector<std::vector<Row>> rows(executors());
  CollectedTexts texts(executors());
  RunFew(*std::move(stream).To(Collect(rows, texts)));
  std::map<WordGroup, std::string> expected;
  for (const auto& [group, words] : SlidingWords(AllWords(few_words()), 900, 300)) {
    std::map<std::string_view, std::int64_t> last;
    for (const Word& word : words) last[word.text.view()] = word.time_ms;
    const auto latest =
        std::ranges::max_element(last, {}, [](const auto& of) { return std::pair(of.second, of.first); });
    expected[group] =
        absl::StrCat("[", last.size(), ",", InQuotes(last.rbegin()->first), ",", InQuotes(latest->first), "]");
  }
  std::map<WordGroup, std::string> found;
  for (const auto& share : rows) {
    for (const Row& row : share) AppendJson(found[{row.window_start_ms, row.window_end_ms, row.key}], row.value);
  }
  EXPECT_TRUE(SameElements(found, expected));
}

/// The rows of one stage are the records of the next one, by a text that a value has.
TEST_P(TextValues, FromOneStageToTheNext) {
  std::vector<std::vector<WindowResult<Text, std::uint64_t>>> rows(executors());
  CollectedTexts texts(executors());
  RunFew(*Words(few_words())
              .KeyBy(&Word::key)
              .Window(Tumbling{absl::Milliseconds(300)})
              .Aggregate(Max{&Word::text})
              .KeyBy([](const auto& row) { return row.value; })
              .Window(Tumbling{absl::Seconds(3)})
              .Aggregate(Count{})
              .To(Collect(rows, texts)));
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> expected;
  for (const auto& [group, words] : TumblingWords(AllWords(few_words()), 300)) {
    const Text most = std::ranges::max(words, {}, &Word::text).text;
    ++expected[{std::get<0>(group) / 3'000 * 3'000, std::string(most.view())}];
  }
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> found;
  for (const auto& share : rows) {
    for (const auto& row : share) found[{row.window_start_ms, std::string(row.key.view())}] += row.value;
  }
  EXPECT_TRUE(SameElements(found, expected));
}

/// Texts that are replaced all the time take no more memory than those that values have.
TEST_P(TextValues, TakeTheMemoryOfTheTextsThatThereAre) {
  Workload many = few_words();
  many.keys = 3;
  many.records = 30'000;
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(many,
                                       *Words(many)
                                            .KeyBy(&Word::key)
                                            .Aggregate(Several{Last{&Word::time_ms, &Word::text}, TopK<2>(&Word::text)})
                                            .To(Discard{}),
                                       metrics);
  ASSERT_TRUE(status.ok()) << status;
  for (const ExecutorMetrics& each : metrics) EXPECT_LT(each.state_bytes, 64U << 10) << "of some dozen texts";
}

/// A text of so many bytes, which lives as long as the test.
class LongTextsOfValues : public OnEachShape {
 protected:
  template <typename A>
  absl::Status RunWith(std::size_t bytes, const A& aggregate) {
    text_ = std::string(bytes, 'l');
    Workload workload = this->workload();
    workload.slot_bytes = 4'096;
    workload.records = 500;
    std::vector<ExecutorMetrics> metrics;
    return RunNodes(
        workload,
        *From(TestSource(workload))
             .Map([this](const TestRecord& record) {
               return Word{.key = record.key, .time_ms = record.event_time_ms, .text = Text(std::string_view(text_))};
             })
             .KeyBy(&Word::key)
             .Window(Tumbling{absl::Seconds(1)})
             .Aggregate(aggregate)
             .To(Discard{}),
        metrics);
  }
  template <typename A>
  void ExpectLimit(const A& aggregate, std::string_view longest) {
    EXPECT_TRUE(RunWith(256, aggregate).ok());
    const absl::Status status = RunWith(257, aggregate);
    if (executors() == 1) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("messages of 4096 bytes carry 256 bytes of them: ", std::string(longest),
                                         " has 257 bytes; raise --slot-bytes")));
    }
  }

 private:
  std::string text_;
};
GLAIVE_ON_EACH_SHAPE(LongTextsOfValues);

TEST_P(LongTextsOfValues, FitAMessageUpToAPartOfIt) {
  ExpectLimit(Max{&Word::text}, "the value of max");
  ExpectLimit(Several{Count{}, First{&Word::time_ms, &Word::text}}, "the value of count, first");
  ExpectLimit(Distinct{&Word::text}, "the distinct element");
  ExpectLimit(ReduceAssoc([](const Word& a, const Word& b) { return std::max(a, b); }), "its member text");
}

}  // namespace
}  // namespace glaive::engine
