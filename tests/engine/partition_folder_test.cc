// Results in folders: where rows go, when files are visible, and which folders are refused; by the sink of CSV.

#include "engine/files/partition_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/files/result_part.h"
#include "engine/sink/partitioned_csv.h"
#include "state/record/record.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Sale {
  std::uint64_t number;
  Text place;
};
GLAIVE_RECORD(Sale, number, place)

/// By the place, and whether the number is odd.
std::array<Text, 2> PartitionOfSale(const Sale& sale) { return {sale.place, sale.number % 2 == 1 ? "odd" : ""}; }

class PartitionFolderTest : public ::testing::Test {
 protected:
  std::unique_ptr<Sink<Sale>> Open(std::uint32_t executor = 0, std::uint32_t executors = 1,
                                   FileClaims* claims = nullptr, std::size_t most_partitions = 10) {
    const PartitionedCsv sales{path_, std::array<std::string, 2>{"at", "kind"}, &PartitionOfSale, most_partitions};
    auto sink =
        sales.Factory<Sale>()({.executor = ExecutorId{executor}, .executor_count = executors, .claims = claims});
    EXPECT_TRUE(sink.ok()) << sink.status();
    return *std::move(sink);
  }

  static absl::Status Write(Sink<Sale>& sink, const std::vector<Sale>& sales) {
    absl::Status status = sink.Write(sales);
    while (!sink.Ready()) {
    }
    return status;
  }
  static void Finish(Sink<Sale>& sink) {
    sink.Complete(std::nullopt);
    absl::StatusOr<bool> finished = false;
    while (finished.ok() && !*finished) {
      finished = sink.TryFinish();
    }
    EXPECT_EQ(finished.status(), absl::OkStatus());
  }

  /// The texts of all files in the folder, by their paths there.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) {
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        files.emplace(entry.path().lexically_relative(path_), text.str());
      }
    }
    return files;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() / "sales";
};

TEST_F(PartitionFolderTest, RowsAreInTheFolderOfTheirValuesOnceTheRunHasSucceeded) {
  auto sink = Open();
  ASSERT_EQ(Write(*sink, {{1, "Rome"}, {3, "Rome"}, {2, "Rome"}, {5, "a/b: 100%"}, {7, "Rome"}}), absl::OkStatus());
  Finish(*sink);
  for (const auto& [name, text] : Files()) {
    EXPECT_THAT(fs::path(name).filename().string(), testing::StartsWith(".")) << "visible before the run's end";
  }
  std::vector<ResultPart> parts;
  sink->AddParts(parts);
  ASSERT_EQ(sink->Commit(), absl::OkStatus());
  EXPECT_THAT(Files(),
              UnorderedElementsAre(Pair("at=Rome/kind=odd/rows.csv", "number,place\n1,Rome\n3,Rome\n7,Rome\n"),
                                   Pair("at=Rome/kind=__HIVE_DEFAULT_PARTITION__/rows.csv", "number,place\n2,Rome\n"),
                                   Pair("at=a%2Fb%3A 100%25/kind=odd/rows.csv", "number,place\n5,a/b: 100%\n"),
                                   Pair("partitions.csv",
                                        "partition,rows,bytes\nat=Rome/kind=__HIVE_DEFAULT_PARTITION__,1,20\n"
                                        "at=Rome/kind=odd,3,34\nat=a%2Fb%3A 100%25/kind=odd,1,25\n")));
  ASSERT_EQ(parts.size(), 4U);
  for (const ResultPart& part : parts) {
    EXPECT_EQ(part.output, path_);
    EXPECT_TRUE(LeadsInside(part.inside)) << part.inside;
    EXPECT_EQ(fs::file_size(PathOf(part, 1)), part.bytes) << part.inside;
  }
  EXPECT_EQ(parts[0].inside, "partitions.csv");
  EXPECT_EQ(parts[0].rows, 3U);
  EXPECT_EQ(parts[2].rows, 3U);
}

TEST_F(PartitionFolderTest, EachExecutorHasItsPartOfAPartition) {
  std::vector<std::unique_ptr<Sink<Sale>>> sinks;
  for (std::uint32_t executor = 0; executor < 2; ++executor) {
    sinks.push_back(Open(executor, 2));
    ASSERT_EQ(Write(*sinks.back(), {{executor * 2 + 1, "x"}}), absl::OkStatus());
    Finish(*sinks.back());
  }
  for (const auto& sink : sinks) {
    ASSERT_EQ(sink->Commit(), absl::OkStatus());
  }
  EXPECT_THAT(Files(), UnorderedElementsAre(
                           Pair("at=x/kind=odd/rows.csv.part-000-of-002", "number,place\n1,x\n"),
                           Pair("at=x/kind=odd/rows.csv.part-001-of-002", "number,place\n3,x\n"),
                           Pair("partitions.csv.part-000-of-002", "partition,rows,bytes\nat=x/kind=odd,1,17\n"),
                           Pair("partitions.csv.part-001-of-002", "partition,rows,bytes\nat=x/kind=odd,1,17\n")));
}

TEST_F(PartitionFolderTest, ARunThatFailsLeavesNothing) {
  FileClaims claims;
  ASSERT_EQ(claims.ClaimFolder(path_), absl::OkStatus());
  ASSERT_EQ(claims.ClaimPart(ListPath(path_), ExecutorId{0}, 1), absl::OkStatus());
  auto sink = Open(0, 1, &claims);
  ASSERT_EQ(Write(*sink, {{1, "x"}, {2, "y"}}), absl::OkStatus());
  EXPECT_TRUE(fs::is_directory(fs::path(path_) / "at=x" / "kind=odd"));
  sink.reset();
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_FALSE(fs::exists(fs::path(path_) / "at=x"));
  claims.Clear();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(PartitionFolderTest, RetractedPartsTakeTheirFoldersWithThem) {
  auto sink = Open();
  ASSERT_EQ(Write(*sink, {{1, "x"}, {3, "y"}}), absl::OkStatus());
  Finish(*sink);
  std::vector<ResultPart> parts;
  sink->AddParts(parts);
  ASSERT_EQ(sink->Commit(), absl::OkStatus());
  sink.reset();
  RemovePart(parts[1], PathOf(parts[1], 1));
  EXPECT_FALSE(fs::exists(fs::path(path_) / "at=x"));
  EXPECT_TRUE(fs::exists(fs::path(path_) / "at=y"));
  RemovePart(parts[2], PathOf(parts[2], 1));
  RemovePart(parts[0], PathOf(parts[0], 1));
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(PartitionFolderTest, RowsAreVisibleBeforeTheEndWhereTheyArePublished) {
  FileClaims claims;
  claims.SetPublication(Publication::kWhileRunning);
  auto sink = Open(0, 1, &claims);
  ASSERT_EQ(Write(*sink, {{1, "x"}, {2, "y"}}), absl::OkStatus());
  constexpr std::int64_t kLater = 1'000'000'000;
  EXPECT_FALSE(sink->WantsToPublish(kLater)) << "no row is final";
  sink->Complete(1'600'000'000'000);
  ASSERT_EQ(Write(*sink, {{3, "x"}}), absl::OkStatus());
  ASSERT_TRUE(sink->WantsToPublish(kLater));
  ASSERT_EQ(sink->Publish(kLater), absl::OkStatus());
  EXPECT_FALSE(sink->WantsToPublish(kLater));
  sink.reset();  // the run fails: what is published stays
  EXPECT_EQ(Files()["at=x/kind=odd/rows.csv"], "number,place\n1,x\n");
  EXPECT_EQ(claims.published().size(), 2U);
}

TEST_F(PartitionFolderTest, AnExecutorHasALimitedNumberOfPartitions) {
  auto sink = Open(0, 1, nullptr, /*most_partitions=*/2);
  const absl::Status status = Write(*sink, {{1, "x"}, {3, "y"}, {5, "x"}, {7, "z"}});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("cannot write ", path_, "/at=z/kind=odd: executor 0 has 2 ")));
}

TEST_F(PartitionFolderTest, LargeBuffersAreWrittenWhileRowsCome) {
  auto sink = Open();
  std::vector<Sale> sales;
  for (std::uint64_t i = 0; i < 4'000; ++i) {
    sales.push_back({2 * i + 1, i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z"});
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Write(*sink, sales), absl::OkStatus());
  }
  Finish(*sink);
  ASSERT_EQ(sink->Commit(), absl::OkStatus());
  std::size_t lines = 0;
  for (const auto& [name, text] : Files()) {
    lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  EXPECT_EQ(lines, 80'000U + 3 + 4);
}

TEST_F(PartitionFolderTest, AFolderIsOfOneRun) {
  FileClaims claims;
  ASSERT_EQ(claims.ClaimFolder(path_), absl::OkStatus());
  ASSERT_EQ(claims.ClaimPart(ListPath(path_), ExecutorId{0}, 1), absl::OkStatus());
  FileClaims others;
  EXPECT_EQ(others.ClaimFolder(path_), absl::OkStatus()) << "executors on other nodes of this run may write into it";
  EXPECT_THAT(others.ClaimPart(ListPath(path_), ExecutorId{0}, 1).message(), HasSubstr("writes it already"));
  claims.Clear();
  WriteText(fs::path(folder_.path()) / "note", "");
  EXPECT_THAT(others.ClaimFolder(folder_.path()).message(), HasSubstr("note is there already; remove what lies in"));
  EXPECT_FALSE(others.ClaimFolder(fs::path(folder_.path()) / "none" / "sales").ok());
}

TEST(ResultPart, PathsThatLeaveTheFolderAreKnown) {
  for (const char* inside : {"a", "a/b", "a=1/b=..x/rows.csv", ".a"}) {
    EXPECT_TRUE(LeadsInside(inside)) << inside;
  }
  for (const char* outside : {"", "/", "/a", "a/", "a//b", "..", "a/..", "../a", "a/./b"}) {
    EXPECT_FALSE(LeadsInside(outside)) << outside;
  }
}

}  // namespace
}  // namespace glaive::engine
