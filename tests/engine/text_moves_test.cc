// Records with texts on their way through operators with buffers, exchanges, tables, queues, stages and sinks.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/typed_keys.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

struct Named {
  std::uint64_t key;
  Text name;
  std::uint64_t number;
};
GLAIVE_RECORD(Named, key, name, number)

/// A row with its text as a string.
using NamedRow = std::pair<std::string, std::uint64_t>;

/// Two of a record, with the texts of its key and of its key by two.
std::vector<Named> TwoOf(const TestRecord& record) {
  return {{.key = record.key, .name = KeyOf<Text>(record.key), .number = 0},
          {.key = record.key, .name = KeyOf<Text>(2 * record.key), .number = 1}};
}
std::string NameIn(const Named& named) { return std::string(KeyOf<Text>(named.key * (1 + named.number)).view()); }

class TextMoves : public OnEachShape {
 protected:
  /// Runs a stream of Named that has `copies` of each record's two; each has the text that it was made with.
  template <typename S>
  void ExpectAllTexts(S stream, std::uint64_t copies) const {
    std::vector<std::vector<Named>> rows(executors());
    CollectedTexts texts(executors());
    Run(*std::move(stream).To(Collect(rows, texts)));
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const auto& share : rows) {
      for (const Named& named : share) {
        ASSERT_EQ(named.name.view(), NameIn(named));
        ++counts[named.key];
      }
    }
    std::map<std::uint64_t, std::uint64_t> expected;
    ForEachTestRecord([&](const TestRecord& record) { expected[record.key] += 2 * copies; });
    EXPECT_TRUE(SameElements(counts, expected));
  }
};
GLAIVE_ON_EACH_SHAPE(TextMoves);

TEST_P(TextMoves, ThroughFlatMaps) {
  ExpectAllTexts(From(TestSource(workload())).FlatMap(&TwoOf), 1);
  ExpectAllTexts(From(TestSource(workload())).FlatMap(&TwoOf).FlatMap([](const Named& named) {
    return std::vector<Named>{named, named};
  }),
                 2);
}

/// The bytes of a text are in a state that the next record changes.
TEST_P(TextMoves, OutOfABufferThatIsUsedAgain) {
  const auto named = [](std::string& bytes, const TestRecord& record) {
    bytes = KeyOf<Text>(record.key).view();
    bytes.reserve(64);
    return std::vector<Named>{{.key = record.key, .name = Text(std::string_view(bytes)), .number = 0}};
  };
  const auto twice = [](const Named& one) {
    return std::vector<Named>{one, {.key = one.key, .name = KeyOf<Text>(2 * one.key), .number = 1}};
  };
  ExpectAllTexts(From(TestSource(workload())).RichFlatMap(std::string(), named).FlatMap(twice), 1);
  ExpectAllTexts(From(TestSource(workload()))
                     .RichFlatMap(std::string(), named)
                     .FlatMap(twice)
                     .KeyBy(&Named::name)
                     .Unkey()
                     .Shuffle()
                     .Map([](const auto& keyed) {
                       return Named{.key = keyed.record.key, .name = keyed.key, .number = keyed.record.number};
                     }),
                 1);
}

TEST_P(TextMoves, ToOtherExecutors) {
  ExpectAllTexts(From(TestSource(workload())).FlatMap(&TwoOf).Shuffle(), 1);
  ExpectAllTexts(From(TestSource(workload())).FlatMap(&TwoOf).Broadcast(), executors());
  ExpectAllTexts(From(TestSource(workload())).FlatMap(&TwoOf).KeyBy(&Named::name).Partition().DropKey(), 1);
}

/// From strings that are gone when the records are read.
TEST_P(TextMoves, OutOfAQueue) {
  RecordQueue<Named> queue(64);
  std::thread feed([&queue] {
    for (std::uint64_t number = 0; number < 5'000; ++number) {
      const std::string name = "name " + std::to_string(number) + std::string(number % 40, '.');
      if (!queue.Push({.key = number, .name = Text(std::string_view(name)), .number = 0})) break;
    }
    queue.Close();
  });
  std::vector<std::vector<Named>> rows(executors());
  CollectedTexts texts(executors());
  Run(*FromQueue(queue).To(Collect(rows, texts)));
  queue.Close();
  feed.join();
  std::uint64_t count = 0;
  for (const auto& share : rows) {
    for (const Named& named : share) {
      ASSERT_EQ(named.name.view(), "name " + std::to_string(named.key) + std::string(named.key % 40, '.'));
      ++count;
    }
  }
  EXPECT_EQ(count, 5'000U);
}

TEST_P(TextMoves, OutOfAStaticTable) {
  auto strings = std::make_unique<std::map<std::string, std::string>>();
  for (std::uint64_t key = 0; key < 100; ++key) {
    strings->emplace(KeyOf<Text>(key).view(), "the value of key " + std::to_string(key));
  }
  const auto table = std::make_shared<const StaticTable<Text, Text>>(*strings);
  strings.reset();  // the table has texts of its own
  EXPECT_GT(table->size_bytes(), 100 * 20U);
  std::vector<std::vector<Text>> rows(executors());
  CollectedTexts texts(executors());
  Run(*From(TestSource(workload()))
           .JoinTable(
               table, [](const TestRecord& record) { return KeyOf<Text>(record.key); },
               [](const TestRecord&, const Text& value) { return value; })
           .To(Collect(rows, texts)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    ASSERT_EQ(rows[executor].size(), workload().records);
    for (std::uint64_t number = 0; number < workload().records; ++number) {
      const std::uint64_t key = MakeRecord(workload(), executor, number).key;
      ASSERT_EQ(rows[executor][number].view(), "the value of key " + std::to_string(key));
    }
  }
}

/// The rows of one stage are the records of the next one, whose table outlives that of the first.
TEST_P(TextMoves, FromOneStageToTheNext) {
  std::vector<std::vector<WindowResult<Text, absl::int128>>> rows(executors());
  CollectedTexts texts(executors());
  Run(*From(TestSource(workload()))
           .KeyBy([](const TestRecord& record) { return Page{KeyOf<Text>(record.key), record.kind, Text()}; })
           .Window(Tumbling{absl::Milliseconds(300)})
           .Aggregate(Count{})
           .KeyBy([](const auto& row) { return row.key.site; })
           .Window(Tumbling{absl::Seconds(3)})
           .Aggregate(Sum{[](const auto& row) { return row.value; }})
           .Map([](const auto& row) {
             return WindowResult<Text, absl::int128>{.window_start_ms = row.window_start_ms,
                                                     .window_end_ms = row.window_end_ms,
                                                     .key = row.key,
                                                     .value = row.value};
           })
           .To(Collect(rows, texts)));
  std::map<std::pair<std::int64_t, std::string>, absl::int128> counts;
  for (const auto& share : rows) {
    for (const auto& row : share) counts[{row.window_start_ms, std::string(row.key.view())}] += row.value;
  }
  std::map<std::pair<std::int64_t, std::string>, absl::int128> expected;
  ForEachTestRecord([&](const TestRecord& record) {
    ++expected[{record.event_time_ms / 3'000 * 3'000, std::string(KeyOf<Text>(record.key).view())}];
  });
  EXPECT_TRUE(SameElements(counts, expected));
}

/// Many keys, so that the table of totals grows when the elements have been read.
TEST_P(TextMoves, FromElementsToTheirTotals) {
  Workload many = workload();
  many.keys = 3'000;
  std::vector<std::vector<WindowResult<Text, std::uint64_t>>> rows(executors());
  CollectedTexts texts(executors());
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(many,
                                       *From(TestSource(many))
                                            .KeyBy([](const TestRecord& record) { return KeyOf<Text>(record.key); })
                                            .Window(Tumbling{absl::Seconds(3)})
                                            .Aggregate(Distinct{[](const TestRecord& record) { return record.kind; }})
                                            .To(Collect(rows, texts)),
                                       metrics);
  ASSERT_TRUE(status.ok()) << status;
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> counts;
  for (const auto& share : rows) {
    for (const auto& row : share) counts[{row.window_start_ms, std::string(row.key.view())}] += row.value;
  }
  std::map<std::pair<std::int64_t, std::string>, std::set<std::uint64_t>> elements;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < many.records; ++number) {
      const TestRecord record = MakeRecord(many, executor, number);
      elements[{record.event_time_ms / 3'000 * 3'000, std::string(KeyOf<Text>(record.key).view())}].insert(record.kind);
    }
  }
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> expected;
  for (const auto& [key, kinds] : elements) expected[key] = kinds.size();
  EXPECT_TRUE(SameElements(counts, expected));
}

TEST_P(TextMoves, ToStatesOfKeys) {
  Workload many = workload();
  many.keys = 3'000;
  std::map<std::string, std::uint64_t> expected;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < many.records; ++number) {
      ++expected[std::string(KeyOf<Text>(MakeRecord(many, executor, number).key).view())];
    }
  }
  const auto by_name = [&] {
    return From(TestSource(many)).KeyBy([](const TestRecord& record) { return KeyOf<Text>(record.key); });
  };
  const auto count = [](std::uint64_t& state, const TestRecord& /*record*/) { ++state; };
  std::vector<ExecutorMetrics> metrics;

  std::vector<std::vector<WindowResult<Text, std::uint64_t>>> rows(executors());
  CollectedTexts texts(executors());
  ASSERT_TRUE(RunNodes(many, *by_name().Fold(std::uint64_t{0}, count).To(Collect(rows, texts)), metrics).ok());
  std::map<std::string, std::uint64_t> folded;
  for (const auto& share : rows) {
    for (const auto& row : share) folded[std::string(row.key.view())] += row.value;
  }
  EXPECT_TRUE(SameElements(folded, expected));

  std::vector<std::vector<KeyedState<Text, std::uint64_t>>> states(executors());
  CollectedTexts state_texts(executors());
  ASSERT_TRUE(RunNodes(many, *by_name().Scan(std::uint64_t{0}, count).To(Collect(states, state_texts)), metrics).ok());
  std::map<std::string, std::uint64_t> greatest;
  std::size_t behind_records = 0;
  for (const auto& share : states) {
    for (const auto& state : share) {
      std::uint64_t& most = greatest[std::string(state.key.view())];
      most = std::max(most, state.value);
    }
    behind_records += share.size();
  }
  EXPECT_TRUE(SameElements(greatest, expected));
  EXPECT_EQ(behind_records, executors() * many.records);
}

TEST_P(TextMoves, ToTheSinkOfLateRecords) {
  const Disorder disorder{.range_ms = 3'000, .bound_ms = 800};
  std::vector<std::vector<LateRecord<Named>>> late(executors());
  CollectedTexts texts(executors());
  const ClusterOutcome outcome = Run(*From(DisorderedRecords(workload(), disorder))
                                          .FlatMap(&TwoOf)
                                          .KeyBy(&Named::name)
                                          .Window(Tumbling{absl::Milliseconds(500)})
                                          .LateTo(Collect(late, texts))
                                          .Aggregate(Count{})
                                          .To(Discard{}));
  std::uint64_t count = 0;
  for (const auto& share : late) {
    for (const auto& row : share) ASSERT_EQ(row.record.name.view(), NameIn(row.record));
    count += share.size();
  }
  EXPECT_GT(count, 100U) << "or this tests little";
  EXPECT_EQ(count, Total(outcome, &ExecutorMetrics::late_records));
}

/// What a text is part of, or is itself.
enum class TextIn : std::uint8_t { kRecord, kRecordItself, kKey, kKeyItself };

/// A text of so many bytes, which lives as long as the test.
class LongTexts : public OnEachShape {
 protected:
  absl::Status RunWith(std::size_t bytes, TextIn in) {
    text_ = std::string(bytes, 'l');
    const auto named = [this](const TestRecord& record) {
      return Named{.key = record.key, .name = Text(std::string_view(text_)), .number = record.key};
    };
    Workload workload = this->workload();
    workload.slot_bytes = 4'096;
    workload.records = 500;
    std::vector<ExecutorMetrics> metrics;
    auto records = From(TestSource(workload)).Map(named);
    const auto page_of = [](const Named& record) { return Page{record.name, record.key, Text("short")}; };
    std::unique_ptr<Query> query;
    switch (in) {
      case TextIn::kRecord:
        query = std::move(records).Shuffle().To(Discard{});
        break;
      case TextIn::kRecordItself:
        query = std::move(records).Map(&Named::name).Shuffle().To(Discard{});
        break;
      case TextIn::kKey:
        query = std::move(records).KeyBy(page_of).Aggregate(Count{}).To(Discard{});
        break;
      case TextIn::kKeyItself:
        query = std::move(records).KeyBy(&Named::name).Aggregate(Count{}).To(Discard{});
        break;
    }
    return RunNodes(workload, *query, metrics);
  }

  void ExpectLimit(TextIn in, std::size_t fits, std::size_t does_not, const std::string& complaint) {
    EXPECT_TRUE(RunWith(fits, in).ok());
    const absl::Status status = RunWith(does_not, in);
    if (executors() == 1) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()), HasSubstr(complaint));
    }
  }

 private:
  std::string text_;
};
GLAIVE_ON_EACH_SHAPE(LongTexts);

TEST_P(LongTexts, FitARecordUpToAMessage) {
  const std::string rest = " has 4090 bytes; raise --slot-bytes, or --ring-budget if that has made the slots smaller";
  ExpectLimit(TextIn::kRecord, 3'900, 4'090, "its member name" + rest);
  ExpectLimit(TextIn::kRecordItself, 3'900, 4'090, "the record, a text," + rest);
}

TEST_P(LongTexts, FitAKeyUpToAPartOfAMessage) {
  const std::string rest =
      " has 257 bytes; raise --slot-bytes, or --ring-budget if that has made the slots smaller, or shorten the texts";
  ExpectLimit(TextIn::kKey, 256, 257, "messages of 4096 bytes carry 256 bytes of them: its member key.site" + rest);
  ExpectLimit(TextIn::kKeyItself, 256, 257, "of them: the key of KeyBy()" + rest);
}

}  // namespace
}  // namespace glaive::engine
