#include "engine/source/line_source.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cluster_harness.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A number is a record of that key and time; "outside" is one outside the input's time.
struct ParseNumber {
  Parsed operator()(std::string_view line, TestRecord& record, ParseError& error) const {
    if (line == "outside") {
      return Parsed::kOutside;
    }
    const std::size_t wrong = line.find_first_not_of("0123456789");
    if (wrong != std::string_view::npos || !absl::SimpleAtoi(std::string(line), &record.event_time_ms)) {
      return error.At(std::min(wrong, line.size()) + 1, "a number is expected");
    }
    record.key = static_cast<std::uint64_t>(record.event_time_ms % 7);
    return Parsed::kRecord;
  }
};

/// What a source said, from its first batch to its last.
struct Outcome {
  std::vector<std::int64_t> times_ms;
  std::vector<std::int64_t> watermarks_ms;  // after each record: what held when the next one came
  std::vector<std::size_t> batches;
  absl::Status status;
  SourceFindings findings;
};

class LineSourceTest : public ::testing::Test {
 protected:
  using TestSource = LineSource<TestRecord, ParseNumber, decltype(kTestEventTime)>;

  std::string Write(const std::string& name, std::string_view text) const {
    return WriteText(folder_.path() / name, text);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  static Outcome Drain(const std::vector<std::string>& paths, const LineSourceOptions& options = {}) {
    return DrainListed(Listed(paths), options);
  }
  static Outcome DrainListed(const std::vector<ListedFile>& files, const LineSourceOptions& options) {
    TestSource source(WholeFiles(files), ParseNumber{}, kTestEventTime, options);
    Outcome outcome;
    std::int64_t watermark_ms = kMinEventTimeMs;
    SourceBatch<TestRecord> batch;
    do {
      batch = source.Poll();
      EXPECT_LE(batch.records.size(), kMaxLineBatch);
      EXPECT_GE(batch.watermark_ms, watermark_ms) << "watermarks never go back";
      for (const TestRecord& record : batch.records) {
        outcome.times_ms.push_back(record.event_time_ms);
        outcome.watermarks_ms.push_back(watermark_ms);
      }
      watermark_ms = batch.watermark_ms;
      outcome.watermarks_ms.resize(outcome.times_ms.size());
      if (!outcome.watermarks_ms.empty()) {
        outcome.watermarks_ms.back() = watermark_ms;
      }
      if (!batch.records.empty()) {
        outcome.batches.push_back(batch.records.size());
      }
    } while (!batch.ended);
    outcome.status = source.status();
    outcome.findings = source.findings();
    return outcome;
  }

  static constexpr LineSourceOptions kSkip = {.on_bad_record = OnBadRecord::kSkip};

  TemporaryFolder folder_;
};

/// The numbers from `first`, `count` of them, one a line.
std::string Numbers(std::int64_t first, std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    absl::StrAppend(&text, first + i, "\n");
  }
  return text;
}

TEST_F(LineSourceTest, ReadsItsFilesOneAfterTheOtherPlainOrNot) {
  const Outcome outcome = Drain({Write("a", "1\n2\n"), Write("b", Gzip("3\n4\n") + Gzip("5\n")), Write("c", "6\n")});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(outcome.watermarks_ms.back(), 6) << "at the end";
}

TEST_F(LineSourceTest, ManyBlocksOfLinesComeInOrderWhereverABlockCutsALine) {
  const std::string text = Numbers(1, 100'000);
  for (const std::string& path : {Write("plain", text), Write("zipped", Gzip(text))}) {
    const Outcome outcome = Drain({path});
    EXPECT_EQ(outcome.status, absl::OkStatus());
    ASSERT_EQ(outcome.times_ms.size(), 100'000U);
    for (std::size_t i = 0; i < outcome.times_ms.size(); ++i) {
      ASSERT_EQ(outcome.times_ms[i], static_cast<std::int64_t>(i) + 1);
    }
  }
}

TEST_F(LineSourceTest, TakesCarriageReturnsAndALastLineWithoutAnEnd) {
  EXPECT_THAT(Drain({Write("dos", "1\r\n2\r\n3\r\n")}).times_ms, ElementsAre(1, 2, 3));
  EXPECT_THAT(Drain({Write("cut", "1\n2"), Write("next", "3\n")}).times_ms, ElementsAre(1, 2, 3));
  EXPECT_THAT(Drain({Write("both", "1\r\n2\r")}).times_ms, ElementsAre(1, 2));
}

TEST_F(LineSourceTest, ASourceWithoutFilesEndsAtOnce) {
  const Outcome outcome = Drain({});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, IsEmpty());
}

TEST_F(LineSourceTest, ABadLineEndsTheStreamAndIsNamedByFileLineAndColumn) {
  const std::string path = Write("b", "3\n40x1\n5\n");
  const Outcome outcome = Drain({Write("a", "1\n2\n"), path});
  EXPECT_TRUE(absl::IsFailedPrecondition(outcome.status));
  EXPECT_EQ(outcome.status.message(), path + ":2:3: a number is expected");
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2, 3));
}

TEST_F(LineSourceTest, ALineThatIsCutOffIsABadOne) {
  EXPECT_EQ(Drain({Write("a", "1\n2\n3x")}).status.message(), Path("a") + ":3:2: a number is expected");
}

TEST_F(LineSourceTest, BlankLinesArePassedOverAndCountAsLines) {
  const Outcome outcome = Drain({Write("a", "\n1\n\n \t\n2\r\n\r\n\n"), Write("b", Gzip("3\n\n"))});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2, 3));
  EXPECT_EQ(outcome.findings.bad_records, 0U);
  EXPECT_EQ(Drain({Write("c", "1\n\n\nx\n")}).status.message(), Path("c") + ":4:1: a number is expected");
}

TEST_F(LineSourceTest, AByteOrderMarkAtAFilesBeginningIsPassedOver) {
  const std::string mark = "\xEF\xBB\xBF";
  const Outcome outcome = Drain(
      {Write("a", mark + "1\n2\n"), Write("b", Gzip(mark + "3")), Write("c", mark), Write("d", mark + "\r\n4\n")});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Drain({Write("e", "1\n" + mark + "2\n")}).status.message(), Path("e") + ":2:1: a number is expected");
}

TEST_F(LineSourceTest, AByteOrderMarkCountsToItsLinesLengthWhereverReadingCutsIt) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string longest = mark + std::string(LineReader::kMaxLineBytes - 4, '0') + "2";
  EXPECT_THAT(Drain({Write("longest", longest + "\n3\n")}).times_ms, ElementsAre(2, 3));
  for (const std::size_t excess : {1, 2, 3, 4}) {
    const std::string line = longest + std::string(excess, '0');
    // A Read takes in the text of one member of a gzip file: here all of the line without its end.
    const std::string cut = Write("cut", Gzip(line) + Gzip("0\n3\n"));
    const std::string whole = Write("whole", line + "0\n3\n");
    for (const std::string& path : {cut, whole}) {
      const Outcome outcome = Drain({path}, kSkip);
      EXPECT_THAT(outcome.times_ms, ElementsAre(3)) << excess;
      EXPECT_EQ(outcome.findings.first_bad_record, path + ":1:1: the line is longer than 1048576 bytes");
    }
  }
}

TEST_F(LineSourceTest, SkippedLinesAreCountedAndTheFirstIsKept) {
  const Outcome outcome =
      Drain({Write("a", "1\nx\n\n"), Write("b", ""), Write("c", "y1\noutside\n2\noutside\noutside\n3y")}, kSkip);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2));
  EXPECT_EQ(outcome.findings.bad_records, 3U) << "x, y1, 3y";
  EXPECT_EQ(outcome.findings.first_bad_record, Path("a") + ":2:1: a number is expected");
  EXPECT_EQ(outcome.findings.outside_records, 3U);
}

TEST_F(LineSourceTest, OutsideRecordsAreNotBadOnes) {
  const Outcome outcome = Drain({Write("a", "outside\n1\n")});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_EQ(outcome.findings.outside_records, 1U);
  EXPECT_EQ(outcome.findings.bad_records, 0U);
}

TEST_F(LineSourceTest, AnEmptyFileHasNoRecords) {
  const Outcome outcome =
      Drain({Write("a", "1\n"), Write("b", ""), Write("zipped", Gzip("")), Write("c", "2\n"), Write("d", "")});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_THAT(outcome.times_ms, ElementsAre(1, 2));
  EXPECT_EQ(outcome.findings.bad_records, 0U);
}

TEST_F(LineSourceTest, AFileThatChangesEndsTheStreamEvenWhenSkipping) {
  const std::vector<ListedFile> files = Listed({Write("a", "1\n"), Write("b", "2\n3\n")});
  Write("b", "2\n");
  EXPECT_THAT(DrainListed(files, kSkip).status.message(), HasSubstr(Path("b") + ": was written to"));
}

TEST_F(LineSourceTest, AFileThatCannotBeReadEndsTheStreamEvenWhenSkipping) {
  const std::string whole = Gzip(Numbers(1, 10'000));
  const Outcome cut = Drain({Write("cut", whole.substr(0, whole.size() - 4))}, kSkip);
  EXPECT_THAT(cut.status.message(),
              ::testing::AllOf(HasSubstr(Path("cut") + ": cut off"), HasSubstr("lines before it: ")));
  EXPECT_THAT(DrainListed({*ListFile(Write("a", "1\n")), {.path = Path("none")}}, kSkip).status.message(),
              ::testing::AllOf(HasSubstr("cannot open the input " + Path("none")), HasSubstr("No such file")));
}

TEST_F(LineSourceTest, ALineThatIsTooLongIsOneBadRecord) {
  const std::string digits(LineReader::kMaxLineBytes - 1, '0');
  EXPECT_THAT(Drain({Write("longest", "1\n" + digits + "2\n3\n")}).times_ms, ElementsAre(1, 2, 3));
  for (const std::size_t excess : {std::size_t{1}, InputFile::kBlockBytes, 3 * LineReader::kMaxLineBytes}) {
    const std::string path = Write("long", "1\n" + digits + "2" + std::string(excess, 'x') + "\n3\n");
    EXPECT_EQ(Drain({path}).status.message(), path + ":2:1: the line is longer than 1048576 bytes");
    const Outcome skipping = Drain({path, Write("next", "4\nx\n")}, kSkip);
    EXPECT_THAT(skipping.times_ms, ElementsAre(1, 3, 4)) << excess;
    EXPECT_EQ(skipping.findings.bad_records, 2U) << excess;
    const Outcome last = Drain({Write("last", "1\n" + digits + "2" + std::string(excess, 'x')), path}, kSkip);
    EXPECT_THAT(last.times_ms, ElementsAre(1, 1, 3)) << excess;
    EXPECT_EQ(last.findings.bad_records, 2U) << excess;
  }
}

TEST_F(LineSourceTest, LinesKeepTheirNumbersBehindALongOne) {
  const std::string path = Write("a", "1\n" + std::string(2 * LineReader::kMaxLineBytes, 'x') + "\n2\ny\n");
  LineReader reader(WholeFiles(Listed({path})));
  std::vector<std::pair<LineEvent, std::uint64_t>> events;
  for (LineEvent event = reader.Next(); event != LineEvent::kEnd; event = reader.Next()) {
    if (event == LineEvent::kWait) {
      ASSERT_EQ(reader.Read(), absl::OkStatus());
    } else {
      events.emplace_back(event, reader.line_number());
    }
  }
  using Event = std::pair<LineEvent, std::uint64_t>;
  EXPECT_THAT(events, ElementsAre(Event{LineEvent::kLine, 1}, Event{LineEvent::kFault, 2}, Event{LineEvent::kLine, 3},
                                  Event{LineEvent::kLine, 4}));
}

/// As a watermark it would end the stream.
TEST_F(LineSourceTest, AnEndOfTimeIsABadRecord) {
  const std::string path = Write("a", "5\n9223372036854775807\n7\n");
  EXPECT_EQ(Drain({path}).status.message(),
            path + ":2:1: its event time, 9223372036854775807 ms, is an end of the scale and no time");
  const Outcome skipped = Drain({path}, {.on_bad_record = OnBadRecord::kSkip});
  EXPECT_THAT(skipped.times_ms, ElementsAre(5, 7));
  EXPECT_EQ(skipped.findings.bad_records, 1U);
}

TEST_F(LineSourceTest, TheWatermarkMovesAtEveryNthRecordAndAtTheEndOnly) {
  const Outcome outcome = Drain({Write("a", "5\n9\n7\n8\n"), Write("b", "3\n12\n4\n")}, {.watermark_every = 3});
  EXPECT_EQ(outcome.status, absl::OkStatus());
  const std::int64_t none = kMinEventTimeMs;
  EXPECT_THAT(outcome.watermarks_ms, ElementsAre(none, none, 9, 9, 9, 12, 12));
}

TEST_F(LineSourceTest, TheWatermarkIsAFunctionOfRecordNumbersAlone) {
  std::mt19937_64 random(3);
  std::string text;
  std::string with_noise;
  for (int i = 0; i < 40'000; ++i) {
    const std::string line = absl::StrCat(i * 10 + random() % 1000, "\n");
    text += line;
    with_noise += line + (random() % 3 == 0 ? "bad " + std::string(random() % 100, 'x') + "\n" : "");
  }
  const std::size_t half = text.find('\n', text.size() / 2) + 1;
  const Outcome plain = Drain({Write("a", text)}, {.watermark_every = 700});
  ASSERT_EQ(plain.times_ms.size(), 40'000U);
  const std::vector<Outcome> others = {
      Drain({Write("b", Gzip(text))}, {.watermark_every = 700}),
      Drain({Write("c", text.substr(0, half)), Write("d", Gzip(text.substr(half)))}, {.watermark_every = 700}),
      Drain({Write("e", with_noise)}, {.on_bad_record = OnBadRecord::kSkip, .watermark_every = 700})};
  for (const Outcome& other : others) {
    EXPECT_EQ(other.times_ms, plain.times_ms);
    EXPECT_EQ(other.watermarks_ms, plain.watermarks_ms);
  }
  EXPECT_NE(others.back().batches, plain.batches) << "or the comparison says nothing";
  std::int64_t greatest_ms = kMinEventTimeMs;
  std::int64_t expected_ms = kMinEventTimeMs;
  for (std::size_t i = 0; i < plain.times_ms.size() - 1; ++i) {
    greatest_ms = std::max(greatest_ms, plain.times_ms[i]);
    expected_ms = (i + 1) % 700 == 0 ? greatest_ms : expected_ms;
    ASSERT_EQ(plain.watermarks_ms[i], expected_ms) << i;
  }
  EXPECT_EQ(plain.watermarks_ms.back(), std::max(greatest_ms, plain.times_ms.back()));
}

TEST_F(LineSourceTest, RandomBytesAreErrorsAndNeverACrash) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 5000, '\0');
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    bytes.insert(0, i % 2 == 0 ? "\x1f\x8b\x08" : "x");
    const std::string path = Write("noise", bytes);
    EXPECT_FALSE(Drain({path}).status.ok());
    const Outcome skipping = Drain({path}, kSkip);
    EXPECT_TRUE(!skipping.status.ok() || skipping.findings.bad_records > 0);
  }
}

// ---- as a query's source ----

class LineQueryTest : public LineSourceTest {
 protected:
  /// Counts by key and window of 1 s, run by the executors of one node.
  ClusterOutcome Run(const std::vector<std::string>& files, std::uint32_t executors,
                     const LineSourceOptions& options = {}, std::int64_t idle_timeout_ns = 0) const {
    Workload workload;
    workload.executors = executors;
    workload.idle_timeout_ns = idle_timeout_ns;
    ClusterOutcome outcome;
    std::vector<std::vector<TestRow>> rows(executors);
    const auto query = From(Lines<TestRecord>(Listed(files), ParseNumber{}, kTestEventTime, options))
                           .KeyBy(&TestRecord::key)
                           .Window(Tumbling{absl::Seconds(1)})
                           .Aggregate(Count{})
                           .To(Collect(rows));
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    CollectOutcome(rows, outcome);
    return outcome;
  }
};

TEST_F(LineQueryTest, ThreeExecutorsShareThePartsAndCountEveryRecordOnce) {
  std::vector<std::string> files;
  TestCounts expected;
  for (int part = 0; part < 5; ++part) {
    const std::int64_t first = part * 3000;  // or the later parts' records would be late
    const std::string text = Numbers(first, 3000);
    files.push_back(Write(absl::StrCat("part-", part), part % 2 == 0 ? text : Gzip(text)));
    for (std::int64_t time = first; time < first + 3000; ++time) {
      ++expected[{time / 1000 * 1000, static_cast<std::uint64_t>(time % 7)}];
    }
  }
  const ClusterOutcome outcome = Run(files, 3);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_EQ(outcome.metrics[0].records, 6000U);
  EXPECT_EQ(outcome.metrics[1].records, 6000U);
  EXPECT_EQ(outcome.metrics[2].records, 3000U);
}

TEST_F(LineQueryTest, ExecutorsWithoutAPartHoldNobodyBack) {
  const ClusterOutcome outcome = Run({Write("a", Gzip(Numbers(0, 5000)))}, 3);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_EQ(outcome.counts.size(), 5 * 7U);
  EXPECT_EQ(outcome.metrics[0].records, 5000U) << "gzip is not cut";
}

TEST_F(LineQueryTest, ThreeExecutorsShareAFileAndCountEveryRecordOnce) {
  TestCounts expected;
  for (std::int64_t time = 0; time < 5000; ++time)
    ++expected[{time / 1000 * 1000, static_cast<std::uint64_t>(time % 7)}];
  const ClusterOutcome outcome = Run({Write("a", Numbers(0, 5000))}, 3);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  for (const ExecutorMetrics& metrics : outcome.metrics) EXPECT_GT(metrics.records, 1500U);
}

TEST_F(LineQueryTest, ABadLineOfASharedFileIsNamedByTheByteAtWhichItBegins) {
  const std::string before = Numbers(0, 5000);
  const ClusterOutcome outcome = Run({Write("a", before + "12x4\n")}, 2);
  EXPECT_THAT(outcome.status.message(),
              HasSubstr(absl::StrCat(Path("a"), ":byte ", before.size() + 1, ":3: a number is expected")));
}

TEST_F(LineQueryTest, ABadLineEndsTheRunWithItsPlace) {
  const ClusterOutcome outcome = Run({Write("a", Numbers(0, 100)), Write("b", "1\n2\nthree\n")}, 2);
  // The empty epochs of the clock may come before the batch.
  EXPECT_THAT(std::string(outcome.status.message()), ContainsRegex("executor 1, epoch [0-9]+: "));
  EXPECT_THAT(outcome.status.message(), HasSubstr(": " + Path("b") + ":3:1: a number is expected"));
}

TEST_F(LineQueryTest, AFlowThatReadsBadLinesForLongIsNotSilent) {
  std::string bad;
  while (bad.size() < 40 * InputFile::kBlockBytes) {
    bad += "bad line\n";
  }
  // A source that had nothing twice in a row would be idle.
  const std::vector<std::string> files = {Write("a", Numbers(0, 50'000)), Write("b", "1\n" + bad + Numbers(2, 3'000))};
  const ClusterOutcome outcome = Run(files, 2, kSkip, /*idle_timeout_ns=*/1);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::idle_periods), 0U);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  EXPECT_GT(outcome.metrics[1].bad_records, 200'000U);
}

TEST_F(LineQueryTest, SkippedLinesReachTheMetrics) {
  const ClusterOutcome outcome = Run({Write("a", "1\nx\n2\noutside\n"), Write("b", "3\n")}, 2, kSkip);
  EXPECT_EQ(outcome.status, absl::OkStatus());
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), 3U);
  EXPECT_EQ(outcome.metrics[0].bad_records, 1U);
  EXPECT_EQ(outcome.metrics[0].first_bad_record, Path("a") + ":2:1: a number is expected");
  EXPECT_EQ(outcome.metrics[0].outside_records, 1U);
  EXPECT_EQ(outcome.metrics[1].bad_records, 0U);
  EXPECT_EQ(outcome.metrics[1].first_bad_record, "");
}

}  // namespace
}  // namespace glaive::engine
