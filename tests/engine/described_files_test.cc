// Described records go from files to files, as users write it, on one node and on several.

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/files/part_file.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "engine/sink/json_lines.h"
#include "engine/sink/partitioned_csv.h"
#include "engine/sink/text_lines.h"
#include "engine/source/csv_file.h"
#include "engine/source/json_lines_file.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/described_records.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Sale {
  std::int64_t time_ms;
  Text item;
  std::uint32_t count;
  std::optional<Text> note;
};
GLAIVE_RECORD(Sale, time_ms, item, count, note)

struct ItemKey {
  std::uint32_t count;
  Text item;

  friend bool operator==(const ItemKey&, const ItemKey&) = default;
};
GLAIVE_RECORD(ItemKey, count, item)

/// A result of the aggregation by ItemKey, as far as it is read.
struct CountOfItem {
  ItemKey key;
  std::uint64_t value;
};
GLAIVE_RECORD(CountOfItem, key, value)

constexpr std::int64_t kSales = 3000;

std::string ItemOf(std::int64_t i) {
  return i % 5 == 0 ? absl::StrCat("a \"long\" item,\nnumber ", i % 100) : absl::StrCat("item ", i % 100);
}

class DescribedFiles : public OnEachShape {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Sales in a file with the columns in another order, and one more.
  std::vector<ListedFile> WriteSales() const {
    std::string text = "count,other,item,note,time_ms\r\n";
    for (std::int64_t i = 0; i < kSales; ++i) {
      absl::StrAppend(&text, i % 7, ",\"x,\ny\",");
      AppendCsvText(text, ItemOf(i));
      absl::StrAppend(&text, i % 3 == 0 ? ",," : i % 3 == 1 ? ",\"\"," : ",seen,", i, "\r\n");
    }
    return Listed({WriteText(folder_.path() / "sales.csv", text)});
  }
  /// What JsonLines has to write of a sale.
  static std::string SaleInJson(std::int64_t i) {
    std::string line = absl::StrCat("{\"time_ms\":", i, ",\"item\":");
    AppendJsonText(line, ItemOf(i));
    return absl::StrCat(line, ",\"count\":", i % 7, ",\"note\":",
                        i % 3 == 0   ? "null"
                        : i % 3 == 1 ? "\"\""
                                     : "\"seen\"",
                        "}");
  }
  static std::vector<std::string> AllSalesInJson() {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < kSales; ++i) lines.push_back(SaleInJson(i));
    std::ranges::sort(lines);
    return lines;
  }

  /// The parts of a result.
  std::vector<ListedFile> PartsOf(const std::string& name) const {
    std::vector<std::string> paths;
    for (std::uint32_t i = 0; i < executors(); ++i) {
      paths.push_back(PartPath(Path(name), ExecutorId{i}, executors()));
    }
    return Listed(paths);
  }
  std::vector<std::string> LinesOf(const std::string& name) const {
    std::vector<std::string> lines;
    for (const ListedFile& part : PartsOf(name)) {
      std::ifstream file(part.path);
      for (std::string line; std::getline(file, line);) lines.push_back(line);
    }
    std::ranges::sort(lines);
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_P(DescribedFiles, GoFromCsvToJsonToCsvAndBack) {
  Run(*From(CsvFile<Sale>(WriteSales(), &Sale::time_ms)).To(JsonLines{Path("sales.jsonl")}));
  EXPECT_EQ(LinesOf("sales.jsonl"), AllSalesInJson());
  Run(*From(JsonLinesFile<Sale>(PartsOf("sales.jsonl"), [](const Sale& sale) {
         return sale.time_ms;
       })).To(Csv{Path("again.csv")}));
  Run(*From(CsvFile<Sale>(PartsOf("again.csv"))).To(JsonLines{Path("again.jsonl")}));
  EXPECT_EQ(LinesOf("again.jsonl"), AllSalesInJson());
}

TEST_P(DescribedFiles, ColumnsOfCsvHaveTheNamesThatTheProgramSays) {
  std::string text = "NOTE,TIME (MS),ITEM SOLD,count\n";
  for (std::int64_t i = 0; i < kSales; ++i) {
    absl::StrAppend(&text, i % 3 == 0 ? "," : i % 3 == 1 ? "\"\"," : "seen,", i, ",");
    AppendCsvText(text, ItemOf(i));
    absl::StrAppend(&text, ",", i % 7, "\n");
  }
  const std::vector<ListedFile> files = Listed({WriteText(folder_.path() / "sales.csv", text)});
  const CsvColumns columns = {{"note", "NOTE"}, {"time_ms", "TIME (MS)"}, {"item", "ITEM SOLD"}};
  Run(*From(CsvFile<Sale>(files, &Sale::time_ms, {}, columns)).To(JsonLines{Path("sales.jsonl")}));
  EXPECT_EQ(LinesOf("sales.jsonl"), AllSalesInJson());
  Run(*From(CsvFile<Sale>(files, LineSourceOptions{}, columns)).To(JsonLines{Path("again.jsonl")}));
  EXPECT_EQ(LinesOf("again.jsonl"), AllSalesInJson());
  EXPECT_DEATH((void)CsvFile<Sale>(files, {}, {{"notes", "NOTE"}}),
               "the member 'notes', which the record does not have");
}

TEST_P(DescribedFiles, LinesOfTextStayAsTheyAre) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 5000; ++i) {
    expected.push_back(i % 10 == 0 ? "" : absl::StrCat("line ", i, " of a text, long enough to be elsewhere"));
    absl::StrAppend(&text, expected.back(), "\n");
  }
  std::ranges::sort(expected);
  Run(*From(Lines(Listed({WriteText(folder_.path() / "in.txt", text)}))).To(TextLines{Path("out.txt")}));
  EXPECT_EQ(LinesOf("out.txt"), expected);
}

TEST_P(DescribedFiles, NumbersOfThemAreCountedInWindows) {
  Run(*From(CsvFile<Sale>(WriteSales(), &Sale::time_ms, {.watermark_every = 10}))
           .KeyBy([](const Sale& sale) { return std::uint64_t{sale.count}; })
           .Window(Tumbling{absl::Seconds(1)})
           .Aggregate(Count{})
           .To(JsonLines{Path("counts.jsonl")}));
  std::vector<std::string> expected;
  for (std::int64_t start = 0; start < kSales; start += 1000) {
    std::vector<std::uint64_t> counts(7);
    for (std::int64_t i = start; i < start + 1000; ++i) ++counts[static_cast<std::size_t>(i % 7)];
    for (std::size_t key = 0; key < 7; ++key) {
      expected.push_back(absl::StrCat("{\"window_start_ms\":", start, ",\"window_end_ms\":", start + 1000,
                                      ",\"key\":", key, ",\"value\":", counts[key], "}"));
    }
  }
  std::ranges::sort(expected);
  EXPECT_EQ(LinesOf("counts.jsonl"), expected);
}

TEST_P(DescribedFiles, KeysAreWrittenAsTheirColumnsAndReadAgain) {
  Run(*From(CsvFile<Sale>(WriteSales()))
           .KeyBy([](const Sale& sale) { return ItemKey{.count = sale.count, .item = sale.item}; })
           .Aggregate(Count{})
           .To(Csv{Path("counts.csv")}));
  for (const ListedFile& part : PartsOf("counts.csv")) {
    std::ifstream file(part.path);
    std::string header;
    std::getline(file, header);
    EXPECT_EQ(header, "window_start_ms,window_end_ms,key.count,key.item,value");
  }
  Run(*From(CsvFile<CountOfItem>(PartsOf("counts.csv"))).To(JsonLines{Path("counts.jsonl")}));
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> counts;
  for (std::int64_t i = 0; i < kSales; ++i) ++counts[{i % 7, ItemOf(i)}];
  std::vector<std::string> expected;
  for (const auto& [key, count] : counts) {
    std::string item;
    AppendJsonText(item, key.second);
    expected.push_back(absl::StrCat("{\"key\":{\"count\":", key.first, ",\"item\":", item, "},\"value\":", count, "}"));
  }
  std::ranges::sort(expected);
  EXPECT_EQ(LinesOf("counts.jsonl"), expected);
}

/// Each executor has its part of a partition.
TEST_P(DescribedFiles, RowsLieInTheFoldersOfTheirPartitions) {
  const auto parity_of = [](const Sale& sale) { return std::array<Text, 1>{sale.count % 2 == 0 ? "even" : "odd"}; };
  Run(*From(CsvFile<Sale>(WriteSales(), &Sale::time_ms))
           .To(PartitionedCsv{Path("sales"), std::array<std::string, 1>{"parity"}, parity_of}));
  std::int64_t listed = 0;
  for (const std::string& line : LinesOf("sales/partitions.csv")) {
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    ASSERT_EQ(fields.size(), 3U) << line;
    listed += fields[1] == "rows" ? 0 : std::stoll(fields[1]);
  }
  EXPECT_EQ(listed, kSales);
  for (const std::string& parity : {std::string("even"), std::string("odd")}) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(Path("sales/parity=" + parity))) {
      paths.push_back(entry.path().string());
    }
    Run(*From(CsvFile<Sale>(Listed(paths))).To(JsonLines{Path(parity + ".jsonl")}));
    std::vector<std::string> expected;
    for (std::int64_t i = 0; i < kSales; ++i) {
      if (i % 7 % 2 == (parity == "odd" ? 1 : 0)) expected.push_back(SaleInJson(i));
    }
    std::ranges::sort(expected);
    EXPECT_EQ(LinesOf(parity + ".jsonl"), expected);
  }
}

TEST_P(DescribedFiles, AFileWithoutANeededColumnEndsTheRun) {
  const auto files = Listed({WriteText(folder_.path() / "wrong.csv", "time_ms,item,note\n1,a,b\n")});
  ClusterOutcome outcome;
  const auto query = From(CsvFile<Sale>(files, {.on_bad_record = OnBadRecord::kSkip})).To(JsonLines{Path("out.jsonl")});
  outcome.status = RunNodes(workload(), *query, outcome.metrics);
  EXPECT_THAT(outcome.status.message(), HasSubstr("wrong.csv:1:1: the header lacks 'count': it has 'time_ms', 'item', "
                                                  "'note', and the record needs 'time_ms', 'item', 'count', 'note'"));
}

/// Also where bad records are skipped.
TEST_P(DescribedFiles, AHeaderThatIsTooLongEndsTheRun) {
  const std::string text = "time_ms,\"" + std::string(LineReader::kMaxLineBytes, 'x') + "\"\n1,2\n";
  const std::vector<ListedFile> files = Listed({WriteText(folder_.path() / "long.csv", text)});
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(
      workload(), *From(CsvFile<Sale>(files, LineSourceOptions{.on_bad_record = OnBadRecord::kSkip})).To(Discard{}),
      metrics);
  EXPECT_THAT(std::string(status.message()), HasSubstr("long.csv:1:1: the line is longer than"));
}

TEST_P(DescribedFiles, ABadRecordOfCsvIsNamedByItsLineWhoeverReadsIt) {
  std::string text = "time_ms,item,count,note\n";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&text, i, ",\"two\nlines\",1,\n");
  const auto files = Listed({WriteText(folder_.path() / "bad.csv", text + "100,\"two\nlines\",-1,\n")});
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload(), *From(CsvFile<Sale>(files)).To(JsonLines{Path("out.jsonl")}), outcome.metrics);
  EXPECT_THAT(std::string(outcome.status.message()),
              ContainsRegex("bad.csv:203:8: 'count' has '-1': an integer of 32 bits without a sign is expected"));
}

GLAIVE_ON_EACH_SHAPE(DescribedFiles);

/// Parts of JSON have no header, so joining leaves nothing out.
TEST(DescribedParts, AreJoinedWithoutLosingALine) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "places.jsonl";
  std::vector<ResultPart> parts;
  for (std::uint32_t executor = 0; executor < 2; ++executor) {
    auto sink = *JsonLines{path}.Factory<Stall>()({.executor = ExecutorId{executor}, .executor_count = 2});
    const std::vector<Stall> rows = {{.x = static_cast<std::int16_t>(executor), .name = Text("a\nb")}};
    ASSERT_TRUE(sink->Write(rows).ok());
    for (absl::StatusOr<bool> finished = sink->TryFinish(); finished.ok() && !*finished; finished = sink->TryFinish()) {
    }
    ASSERT_TRUE(sink->Commit().ok());
    sink->AddParts(parts);
  }
  WholeFile whole = *WholeFile::Create(path);
  ASSERT_TRUE(JoinParts(whole, parts).ok());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "{\"x\":0,\"name\":\"a\\nb\"}\n{\"x\":1,\"name\":\"a\\nb\"}\n");
}

}  // namespace
}  // namespace glaive::engine
