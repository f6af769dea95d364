#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/sink/all_of.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "tests/engine/full_disk.h"
#include "tests/engine/temporary_folder.h"
#include "tests/rdma/same_text.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

using Row = WindowResult<std::uint64_t, std::uint64_t>;

std::string Header() { return "window_start_ms,window_end_ms,key,value\n"; }

template <typename R>
absl::Status Finish(Sink<R>& sink) {
  while (true) {
    const absl::StatusOr<bool> finished = sink.TryFinish();
    if (!finished.ok() || *finished) {
      return finished.status();
    }
    while (!sink.Ready()) {
      std::this_thread::yield();
    }
  }
}

class CsvTest : public ::testing::Test {
 protected:
  std::string Read(const std::filesystem::path& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::vector<std::string> Files() const { return folder_.Files(); }
  std::unique_ptr<Sink<Row>> Open(std::uint32_t executor, std::uint32_t count) const {
    auto sink = Csv{path_}.Factory<Row>()({.executor = ExecutorId{executor}, .executor_count = count});
    EXPECT_TRUE(sink.ok()) << sink.status();
    return *std::move(sink);
  }
  std::string Refusal(std::uint32_t executor, std::uint32_t count) const {
    const auto sink = Csv{path_}.Factory<Row>()({.executor = ExecutorId{executor}, .executor_count = count});
    return std::string(sink.status().message());
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "counts.csv";
};

TEST_F(CsvTest, AFileHasItsFinalNameOnlyAfterCommit) {
  auto sink = Open(2, 4);
  const std::vector<Row> rows{{.window_start_ms = -10, .window_end_ms = 0, .key = 7, .value = 3}};
  ASSERT_TRUE(sink->Write(rows).ok());
  ASSERT_TRUE(Finish(*sink).ok());
  EXPECT_EQ(Files(), std::vector<std::string>{absl::StrCat(".counts.csv.part-002-of-004.", getpid(), "-0.tmp")});
  ASSERT_TRUE(sink->Commit().ok());
  EXPECT_EQ(Files(), std::vector<std::string>{"counts.csv.part-002-of-004"});
  EXPECT_EQ(Read(folder_.path() / "counts.csv.part-002-of-004"), Header() + "-10,0,7,3\n");
}

TEST_F(CsvTest, AnEndWithoutCommitLeavesNothing) {
  auto sink = Open(0, 1);
  ASSERT_TRUE(sink->Write(std::vector<Row>(100'000)).ok());
  sink.reset();
  EXPECT_TRUE(Files().empty());
}

TEST_F(CsvTest, RowsThatFillManyBuffersArriveInOrder) {
  auto sink = Open(0, 1);
  std::string expected = Header();
  std::vector<Row> rows(4096);
  std::uint64_t key = 0;
  for (int i = 0; i < 60; ++i) {  // about 6 MiB
    for (Row& row : rows) {
      row = {.window_start_ms = 1'600'000'000'000, .window_end_ms = 1'600'000'010'000, .key = key++, .value = 1};
      absl::StrAppend(&expected, "1600000000000,1600000010000,", row.key, ",1\n");
    }
    while (!sink->Ready()) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(sink->Write(rows).ok());
  }
  ASSERT_TRUE(Finish(*sink).ok());
  ASSERT_TRUE(*sink->TryFinish()) << "once finished, always finished";
  ASSERT_TRUE(sink->Commit().ok());
  EXPECT_TRUE(SameText(Read(folder_.path() / "counts.csv"), expected));
}

TEST_F(CsvTest, ADiskThatIsFullIsAnErrorOfALaterCall) {
  auto sink = Open(0, 1);
  absl::Status status;
  {
    const FullDisk full_disk(8);
    EXPECT_TRUE(sink->Write(std::vector<Row>(10)).ok());
    status = Finish(*sink);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), ::testing::AllOf(HasSubstr(".counts.csv."), HasSubstr(".tmp: File too large")));
}

// tests/cli/output_test.py has two runs.
TEST_F(CsvTest, APartThatAnotherSinkWritesIsRefused) {
  const auto first = Open(0, 2);
  EXPECT_THAT(Refusal(0, 2), HasSubstr("this run writes it already"));
  EXPECT_THAT(Refusal(0, 2), HasSubstr("give each of its outputs a name of its own"));
  EXPECT_THAT(Refusal(0, 3), HasSubstr("this run writes it already")) << "of any number of executors";
  const auto sibling = Open(1, 2);
}

TEST_F(CsvTest, PartsOfAnotherNumberOfExecutorsAreNotMixedWith) {
  auto old = Open(1, 2);
  ASSERT_TRUE(Finish(*old).ok());
  ASSERT_TRUE(old->Commit().ok());
  EXPECT_THAT(Refusal(0, 1), HasSubstr("another run writes it")) << "until it ends";
  old.reset();
  EXPECT_THAT(Refusal(0, 1),
              ::testing::AllOf(HasSubstr("counts.csv.part-001-of-002 is of an earlier result of 2 executors"),
                               HasSubstr("remove its parts")));
  EXPECT_EQ(Files(), std::vector<std::string>{"counts.csv.part-001-of-002"});
  const auto again = Open(0, 2);
}

TEST_F(CsvTest, WhatIsNoFileUnderAPartsNameIsRefused) {
  std::filesystem::create_symlink("elsewhere", path_.string() + ".part-000-of-002");
  EXPECT_THAT(Refusal(0, 2), HasSubstr("what lies there is no file"));
}

TEST_F(CsvTest, APartIsRemovedIfItLiesUnderItsName) {
  const auto sink = Open(0, 1);
  ASSERT_TRUE(Finish(*sink).ok());
  ASSERT_TRUE(sink->Commit().ok());
  std::vector<ResultPart> parts;
  sink->AddParts(parts);
  ASSERT_EQ(parts.size(), 1U);
  ResultPart other = parts[0];
  other.inode += 1;
  RemovePart(other, PartPath(other.output, ExecutorId{other.executor}, 1));
  EXPECT_EQ(Files(), std::vector<std::string>{"counts.csv"});
  RemovePart(parts[0], PartPath(parts[0].output, ExecutorId{parts[0].executor}, 1));
  EXPECT_TRUE(Files().empty());
}

TEST_F(CsvTest, JoiningPutsAllPartsIntoOneFileWithOneHeader) {
  std::vector<ResultPart> parts;
  for (std::uint32_t executor = 0; executor < 3; ++executor) {
    auto sink = Open(executor, 3);
    ASSERT_TRUE(
        sink->Write(std::vector<Row>{{.window_start_ms = 0, .window_end_ms = 10, .key = executor, .value = 1}}).ok());
    ASSERT_TRUE(Finish(*sink).ok());
    ASSERT_TRUE(sink->Commit().ok());
    sink->AddParts(parts);
    EXPECT_EQ(parts.back().rows, 1U);
    EXPECT_EQ(parts.back().bytes, Header().size() + std::string("0,10,0,1\n").size());
  }
  WholeFile whole = *WholeFile::Create(path_);
  const absl::Status joined = JoinParts(whole, parts);
  ASSERT_TRUE(joined.ok()) << joined;
  EXPECT_EQ(Files(), std::vector<std::string>{"counts.csv"});
  EXPECT_EQ(Read(path_), Header() + "0,10,0,1\n0,10,1,1\n0,10,2,1\n");
}

/// A part of two that lies under its name.
ResultPart WritePart(const std::string& output, std::uint32_t executor, const std::string& text) {
  const std::string path = PartPath(output, ExecutorId{executor}, 2);
  std::ofstream(path) << text;
  struct stat there{};
  EXPECT_EQ(stat(path.c_str(), &there), 0);
  return {.output = output, .executor = executor, .bytes = text.size(), .inode = there.st_ino};
}

TEST_F(CsvTest, JoiningCanBeEndedAndLeavesNoFileOfItsOwn) {
  const std::string text = Header() + std::string(3 << 20, 'x') + "\n";
  const std::vector<ResultPart> parts = {WritePart(path_, 0, text), WritePart(path_, 1, text)};
  int asked = 0;
  const Watch watch = [&asked] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("enough"); };
  {
    WholeFile whole = *WholeFile::Create(path_);
    EXPECT_EQ(JoinParts(whole, parts, watch), absl::CancelledError("enough"));
  }
  EXPECT_EQ(Files(), (std::vector<std::string>{"counts.csv.part-000-of-002", "counts.csv.part-001-of-002"}));
}

TEST_F(CsvTest, APartThatAnotherRunHasReplacedIsNotJoined) {
  const std::vector<ResultPart> parts = {WritePart(path_, 0, "mine"), WritePart(path_, 1, "mine")};
  WritePart(path_, 1, "another run's");
  {
    WholeFile whole = *WholeFile::Create(path_);
    EXPECT_THAT(JoinParts(whole, parts).message(), HasSubstr("part-001-of-002: another run has replaced it"));
  }
  EXPECT_EQ(Files(), (std::vector<std::string>{"counts.csv.part-000-of-002", "counts.csv.part-001-of-002"}));
}

TEST_F(CsvTest, AMissingPartIsNamedAndNothingIsJoined) {
  {
    WholeFile whole = *WholeFile::Create(path_);
    const absl::Status joined = JoinParts(whole, std::vector<ResultPart>{{.output = path_}});
    EXPECT_THAT(joined.message(), HasSubstr("counts.csv"));
  }
  EXPECT_TRUE(Files().empty());
}

TEST_F(CsvTest, SeveralAggregatesAreSeveralFieldsAndAListIsOne) {
  using Wide = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::optional<double>, std::vector<std::int64_t>>>;
  const auto sink = *Csv{path_}.Factory<Wide>()({.executor = ExecutorId{0}, .executor_count = 1});
  const std::vector<Wide> rows = {{0, 10, 1, {2, 0.5, {7, -3}}}, {0, 10, 4, {5, std::nullopt, {}}}};
  ASSERT_TRUE(sink->Write(rows).ok());
  ASSERT_TRUE(Finish(*sink).ok());
  ASSERT_TRUE(sink->Commit().ok());
  EXPECT_EQ(Read(PartPath(path_, ExecutorId{0}, 1)),
            "window_start_ms,window_end_ms,key,value_1,value_2,value_3\n0,10,1,2,0.5,7 -3\n0,10,4,5,,\n");
}

TEST_F(CsvTest, WithoutAKeyThereIsNoColumnForIt) {
  using Global = WindowResult<AllRecords, std::uint64_t>;
  const auto sink = *Csv{path_}.Factory<Global>()({.executor = ExecutorId{0}, .executor_count = 1});
  ASSERT_TRUE(sink->Write(std::vector<Global>{{0, 10, {}, 2}, {10, 20, {}, 5}}).ok());
  ASSERT_TRUE(Finish(*sink).ok());
  ASSERT_TRUE(sink->Commit().ok());
  EXPECT_EQ(Read(PartPath(path_, ExecutorId{0}, 1)), "window_start_ms,window_end_ms,value\n0,10,2\n10,20,5\n");
}

TEST_F(CsvTest, AWindowWithoutABeginningOrAnEndLeavesTheFieldEmpty) {
  const auto sink = Open(0, 1);
  ASSERT_TRUE(
      sink->Write(std::vector<Row>{{kMinEventTimeMs, 10, 1, 2}, {kMinEventTimeMs, kMaxEventTimeMs, 1, 3}}).ok());
  ASSERT_TRUE(Finish(*sink).ok());
  ASSERT_TRUE(sink->Commit().ok());
  EXPECT_EQ(Read(PartPath(path_, ExecutorId{0}, 1)), Header() + ",10,1,2\n,,1,3\n");
}

// A record that says itself how it is written.
struct Bid {
  static constexpr std::string_view kCsvHeader = "auction,price";
  friend void AppendCsv(std::string& line, const Bid& bid) { absl::StrAppend(&line, bid.auction, ",", bid.price); }

  std::uint64_t auction;
  std::int64_t price;
};

template <typename R>
std::string Written(const std::string& path, const std::vector<R>& rows) {
  const auto sink = *Csv{path}.Factory<R>()({.executor = ExecutorId{0}, .executor_count = 1});
  EXPECT_TRUE(sink->Write(rows).ok());
  EXPECT_TRUE(Finish(*sink).ok());
  EXPECT_TRUE(sink->Commit().ok());
  std::ostringstream text;
  text << std::ifstream(PartPath(path, ExecutorId{0}, 1)).rdbuf();
  return text.str();
}

template <typename R>
std::string WrittenLate(const std::string& path, const std::vector<LateRecord<R>>& rows) {
  return Written(path, rows);
}

TEST_F(CsvTest, RecordsOfAStreamWithoutAWindowAreWrittenAsTheyAre) {
  EXPECT_EQ(Written<Bid>(path_, {{7, -3}, {8, 4}}), "auction,price\n7,-3\n8,4\n");
}

TEST_F(CsvTest, NumbersOfAStreamWithoutAWindowAreRecords) {
  EXPECT_EQ(Written<std::uint64_t>(path_, {3, 4}), "record\n3\n4\n");
}

TEST_F(CsvTest, LateRecordsAreWrittenWithTheirOwnFields) {
  EXPECT_EQ(WrittenLate<Bid>(path_, {{-5, 10, {7, -3}}, {6, 11, {8, 4}}}),
            "event_time_ms,watermark_ms,auction,price\n-5,10,7,-3\n6,11,8,4\n");
  EXPECT_EQ(WrittenLate<std::uint64_t>(path_, {{1, 2, 3}}), "event_time_ms,watermark_ms,record\n1,2,3\n");
  EXPECT_EQ((WrittenLate<std::tuple<int, double>>(path_, {{1, 2, {3, 0.5}}})),
            "event_time_ms,watermark_ms,record_1,record_2\n1,2,3,0.5\n");
}

TEST_F(CsvTest, AFolderThatIsNotThereIsNamed) {
  const auto sink =
      Csv{folder_.path() / "no" / "such.csv"}.Factory<Row>()({.executor = ExecutorId{0}, .executor_count = 1});
  ASSERT_FALSE(sink.ok());
  EXPECT_NE(sink.status().message().find("such.csv"), absl::string_view::npos) << sink.status();
}

TEST(CsvFields, AreWrittenExactly) {
  std::string line;
  AppendCsv(line, std::int64_t{-9'223'372'036'854'775'807});
  line += ' ';
  AppendCsv(line, 0.1);
  line += ' ';
  AppendCsv(line, absl::MakeInt128(1, 0));
  line += ' ';
  AppendCsv(line, std::optional<double>());
  EXPECT_EQ(line, "-9223372036854775807 0.1 18446744073709551616 ");
}

TEST(AllOf, EverySinkGetsEveryRowAndTheFirstErrorIsReported) {
  class Failing final : public Sink<Row> {
   public:
    absl::Status Write(std::span<const Row>) override { return absl::UnavailableError("disk full"); }
  };
  class Counting final : public Sink<Row> {
   public:
    explicit Counting(std::size_t& rows) : rows_(&rows) {}
    absl::Status Write(std::span<const Row> rows) override {
      *rows_ += rows.size();
      return absl::OkStatus();
    }

   private:
    std::size_t* rows_;
  };
  std::size_t rows = 0;
  const engine::AllOf<Row> both(
      {[](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> { return std::make_unique<Failing>(); },
       [&](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
         return std::make_unique<Counting>(rows);
       }});
  auto sink = both.Factory<Row>()({});
  ASSERT_TRUE(sink.ok());
  EXPECT_EQ((*sink)->Write(std::vector<Row>(3)).message(), "disk full");
  EXPECT_EQ(rows, 3U);
}

}  // namespace
}  // namespace glaive::engine
