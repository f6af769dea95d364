// Joins that keep texts and records with texts, in all kinds of windows: each pair has the texts of its records, though
// the memory that they came in is used again.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "engine/format/json_text.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/text_words.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

// Some keys have left words alone, and some right ones.
bool IsLeft(const Word& word) { return word.time_ms % 3 == 0 && word.key % 5 != 0; }
bool IsRight(const Word& word) { return word.time_ms % 3 == 1 && word.key % 7 != 0; }

struct Outer {
  bool left;
  bool right;
};

/// The rows of a join that keeps left words and the texts of right words.
std::vector<std::string> ExpectedPairs(const WordGroups& groups, const Outer& outer) {
  std::vector<std::string> rows;
  const auto add = [&](const WordGroup& group, const std::string& left, const std::string& right) {
    rows.push_back(absl::StrCat(std::get<0>(group), " ", std::get<1>(group), " ", std::get<2>(group), " [", left, ",",
                                right, "]"));
  };
  for (const auto& [group, words] : groups) {
    std::vector<std::string> left;
    std::vector<std::string> right;
    for (const Word& word : words) {
      if (IsLeft(word)) {
        left.push_back(
            absl::StrCat("{\"key\":", word.key, ",\"time_ms\":", word.time_ms, ",\"text\":", InQuotes(word.text), "}"));
      } else {
        right.push_back(InQuotes(word.text));
      }
    }
    for (const std::string& each : left) {
      for (const std::string& other : right) add(group, each, other);
      if (right.empty() && outer.left) add(group, each, "null");
    }
    for (const std::string& other : right) {
      if (left.empty() && outer.right) add(group, "null", other);
    }
  }
  return rows;
}

class TextJoins : public OnEachShape {
 protected:
  Workload few_words() const {
    Workload few = workload();
    few.records = 3'000;
    few.slot_bytes = 4'096;
    return few;
  }
  /// Words that either side has.
  std::vector<Word> Taken() const {
    std::vector<Word> words = AllWords(few_words());
    std::erase_if(words, [](const Word& word) { return !IsLeft(word) && !IsRight(word); });
    return words;
  }

  template <typename J, typename W>
  void ExpectPairs(J join, const W& window, const WordGroups& groups, const Outer& outer,
                   state::StateThresholds thresholds = {}) const {
    auto stream = std::move(join)
                      .On(&Word::key, &Word::key)
                      .Window(window)
                      .Keep([](const Word& word) { return word; }, &Word::text);
    using Row = typename decltype(stream)::Record;
    std::vector<std::vector<Row>> rows(executors());
    CollectedTexts texts(executors());
    std::vector<ExecutorMetrics> metrics;
    Workload its = few_words();
    its.thresholds = thresholds;
    const absl::Status status = RunNodes(its, *std::move(stream).To(Collect(rows, texts)), metrics);
    ASSERT_TRUE(status.ok()) << status;
    std::vector<std::string> found;
    for (const auto& share : rows) {
      for (const Row& row : share) {
        found.push_back(absl::StrCat(row.window_start_ms, " ", row.window_end_ms, " ", row.key, " "));
        AppendJson(found.back(), row.value);
      }
    }
    EXPECT_TRUE(SameElements(found, ExpectedPairs(groups, outer)));
  }
  auto Left() const { return Words(few_words()).Filter(&IsLeft); }
  auto Right() const { return Words(few_words()).Filter(&IsRight); }
};
GLAIVE_ON_EACH_SHAPE(TextJoins);

TEST_P(TextJoins, InTumblingWindows) {
  const WordGroups groups = TumblingWords(Taken(), 700);
  ExpectPairs(FullJoin(Left(), Right()), Tumbling{absl::Milliseconds(700)}, groups, {.left = true, .right = true});
  state::StateThresholds split;
  split.split_bytes = 1'000;
  ExpectPairs(FullJoin(Left(), Right()), Tumbling{absl::Milliseconds(700)}, groups, {.left = true, .right = true},
              split);
}
TEST_P(TextJoins, InSlidingWindows) {
  ExpectPairs(Join(Left(), Right()), Sliding{absl::Milliseconds(900), absl::Milliseconds(300)},
              SlidingWords(Taken(), 900, 300), {.left = false, .right = false});
}
TEST_P(TextJoins, InSessions) {
  const WordGroups groups = SessionsOfWords(Taken(), 120);
  ExpectPairs(LeftJoin(Left(), Right()), Session{absl::Milliseconds(120)}, groups, {.left = true, .right = false});
  state::StateThresholds split;
  split.split_bytes = 1'000;
  ExpectPairs(LeftJoin(Left(), Right()), Session{absl::Milliseconds(120)}, groups, {.left = true, .right = false},
              split);
}
TEST_P(TextJoins, WithoutWindows) {
  ExpectPairs(FullJoin(Left(), Right()), Unbounded{}, WordsByKey(Taken()), {.left = true, .right = true});
}

TEST_P(TextJoins, RefuseTextsThatAreTooLongForAMessage) {
  const auto run = [&](std::size_t bytes) {
    const std::string text(bytes, 'l');
    const auto long_words = Words(few_words()).Map([&](const Word& word) {
      return Word{.key = word.key, .time_ms = word.time_ms, .text = Text(std::string_view(text))};
    });
    std::vector<ExecutorMetrics> metrics;
    return RunNodes(few_words(),
                    *Join(Stream(long_words), Right())
                         .On(&Word::key, &Word::key)
                         .Window(Tumbling{absl::Milliseconds(10)})
                         .Keep([](const Word& word) { return word; }, &Word::time_ms)
                         .To(Discard{}),
                    metrics);
  };
  EXPECT_TRUE(run(256).ok());
  const absl::Status status = run(257);
  if (executors() == 1) {
    EXPECT_TRUE(status.ok()) << status;
  } else {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("its member text has 257 bytes; raise --slot-bytes"));
  }
}

}  // namespace
}  // namespace glaive::engine
