// Parts of a result that are published while a run goes on.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/event_time.h"
#include "engine/files/file_claims.h"
#include "engine/sink/csv.h"
#include "tests/engine/temporary_folder.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

using PublishedRow = WindowResult<std::uint64_t, std::uint64_t>;

constexpr const char* kPublishedHeader = "window_start_ms,window_end_ms,key,value\n";
constexpr std::int64_t kLongNs = 1'000'000'000;  // since the last time

class PublishedCsv : public ::testing::Test {
 protected:
  PublishedCsv() { claims_.SetPublication(Publication::kWhileRunning); }

  std::unique_ptr<Sink<PublishedRow>> Open() {
    auto sink = Csv{folder_.path() / "counts.csv"}.Factory<PublishedRow>()(
        {.executor = ExecutorId{0}, .executor_count = 1, .claims = &claims_});
    EXPECT_TRUE(sink.ok()) << sink.status();
    return *std::move(sink);
  }
  static absl::Status Write(Sink<PublishedRow>& sink, std::int64_t start_ms, std::uint64_t key) {
    return sink.Write(std::vector<PublishedRow>{
        {.window_start_ms = start_ms, .window_end_ms = start_ms + 10, .key = key, .value = 1}});
  }
  /// Has the sink publish what is complete, and waits for its thread.
  void Publish(Sink<PublishedRow>& sink, const Completeness& expected) {
    now_ns_ += kLongNs;
    ASSERT_TRUE(sink.WantsToPublish(now_ns_));
    ASSERT_EQ(sink.Publish(now_ns_), absl::OkStatus());
    AwaitThread(sink);
    EXPECT_EQ(claims_.published(), (std::map<std::string, Completeness>{{part_, expected}}));
  }
  static void AwaitThread(Sink<PublishedRow>& sink) {
    while (!dynamic_cast<CsvSink<PublishedRow>&>(sink).Idle()) std::this_thread::yield();
  }
  static void Finish(Sink<PublishedRow>& sink) {
    for (absl::StatusOr<bool> finished = false; !finished.value(); finished = sink.TryFinish()) {
      while (!sink.Ready()) std::this_thread::yield();
    }
  }
  std::vector<std::string> Files() const { return folder_.Files(); }
  static std::string Read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
  FileClaims claims_;
  std::int64_t now_ns_ = kLongNs;
  const std::string part_ = folder_.path() / "counts.csv";
  const std::string progress_ = folder_.path() / ".counts.csv.progress";
  const std::string first_ = absl::StrCat(kPublishedHeader, "0,10,7,1\n");
};

TEST_F(PublishedCsv, RowsAreVisibleOnceTheyAreComplete) {
  const auto sink = Open();
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  EXPECT_FALSE(sink->WantsToPublish(now_ns_ + kLongNs)) << "no window is complete";
  sink->Complete(15);
  ASSERT_EQ(Write(*sink, 10, 8), absl::OkStatus());  // of a window that is not
  Publish(*sink, {.bytes = first_.size(), .rows = 1, .until_ms = 15});
  EXPECT_THAT(Files(), UnorderedElementsAre("counts.csv", ".counts.csv.progress"));
  struct stat file{};
  ASSERT_EQ(stat(part_.c_str(), &file), 0);
  EXPECT_EQ(Read(progress_), absl::StrCat("{\"inode\":", file.st_ino, ",\"bytes\":", first_.size(),
                                          ",\"rows\":1,\"complete_until_ms\":15}\n"));
  EXPECT_EQ(Read(part_).substr(0, first_.size()), first_);

  EXPECT_FALSE(sink->WantsToPublish(now_ns_ + kLongNs)) << "nothing is new";
  sink->Complete(20);
  EXPECT_FALSE(sink->WantsToPublish(now_ns_ + 1)) << "so soon";
  const std::string second = first_ + "10,20,8,1\n";
  Publish(*sink, {.bytes = second.size(), .rows = 2, .until_ms = 20});
  EXPECT_EQ(Read(part_), second);

  sink->Complete(kMaxEventTimeMs);
  Finish(*sink);
  ASSERT_EQ(sink->Commit(), absl::OkStatus());
  EXPECT_THAT(Files(), UnorderedElementsAre("counts.csv"));
  EXPECT_EQ(Read(part_), second);
}

TEST_F(PublishedCsv, AnEndWithoutCommitKeepsWhatIsPublishedAndNoMore) {
  auto sink = Open();
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  sink->Complete(10);
  Publish(*sink, {.bytes = first_.size(), .rows = 1, .until_ms = 10});
  ASSERT_EQ(sink->Write(std::vector<PublishedRow>(200'000)), absl::OkStatus());  // several buffers
  Finish(*sink);
  EXPECT_GT(Read(part_).size(), std::size_t{1} << 20) << "or this tests nothing";
  sink.reset();
  EXPECT_EQ(Read(part_), first_);
  EXPECT_THAT(Read(progress_), HasSubstr("\"complete_until_ms\":10}"));
}

TEST_F(PublishedCsv, TheEarlierResultStaysUntilThereIsARow) {
  std::ofstream(part_) << "old";
  auto sink = Open();
  sink->Complete(5);
  EXPECT_FALSE(sink->WantsToPublish(now_ns_ + kLongNs)) << "no row is complete";
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  EXPECT_EQ(Read(part_), "old");
  sink.reset();
  EXPECT_EQ(Read(part_), "old");
  EXPECT_THAT(Files(), UnorderedElementsAre("counts.csv"));
}

/// Its progress file, too.
TEST_F(PublishedCsv, AnotherProgramsFileStays) {
  const auto sink = Open();
  std::ofstream(part_) << "another's";
  std::ofstream(progress_) << "another's";
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  sink->Complete(10);
  ASSERT_EQ(sink->Publish(now_ns_), absl::OkStatus());
  absl::StatusOr<bool> finished = false;
  while (finished.ok() && !*finished) finished = sink->TryFinish();
  EXPECT_THAT(finished.status().message(), HasSubstr("another program has written a file of this name"));
  EXPECT_EQ(Read(part_), "another's");
  EXPECT_EQ(Read(progress_), "another's");
  EXPECT_TRUE(claims_.published().empty());
}

TEST_F(PublishedCsv, AFileThatIsRemovedOrReplacedIsAnError) {
  for (const bool replaced : {false, true}) {
    const auto sink = Open();
    ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
    sink->Complete(10);
    Publish(*sink, {.bytes = first_.size(), .rows = 1, .until_ms = 10});
    std::filesystem::remove(part_);
    if (replaced) std::ofstream(part_) << "another's";
    Finish(*sink);
    EXPECT_THAT(sink->Commit().message(),
                HasSubstr(replaced ? "it was replaced by another while this run wrote it" : "it was removed while"));
    EXPECT_TRUE(std::filesystem::exists(progress_));
    std::filesystem::remove(part_);
  }
}

/// A run that was killed leaves its progress file.
TEST_F(PublishedCsv, AWholeResultHasNoProgressFile) {
  std::ofstream(part_) << "old";
  std::ofstream(progress_) << "{}";
  claims_.SetPublication(Publication::kEnd);
  const auto sink = Open();
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  sink->Complete(10);
  EXPECT_FALSE(sink->WantsToPublish(now_ns_ + kLongNs));
  Finish(*sink);
  EXPECT_EQ(Read(part_), "old");
  ASSERT_EQ(sink->Commit(), absl::OkStatus());
  EXPECT_THAT(Files(), UnorderedElementsAre("counts.csv"));
  EXPECT_EQ(Read(part_), first_);
}

TEST_F(PublishedCsv, RowsWithoutEventTimesHaveNone) {
  const auto sink = Open();
  ASSERT_EQ(Write(*sink, 0, 7), absl::OkStatus());
  sink->Complete(std::nullopt);
  Publish(*sink, {.bytes = first_.size(), .rows = 1});
  EXPECT_THAT(Read(progress_), HasSubstr("\"rows\":1}"));
  sink->Complete(kMaxEventTimeMs);
  Publish(*sink, {.bytes = first_.size(), .rows = 1, .until_ms = kMaxEventTimeMs});
  EXPECT_THAT(Read(progress_), HasSubstr("\"rows\":1,\"ended\":true}"));
  EXPECT_EQ(Describe("o.csv", {.bytes = 1, .rows = 1}), "o.csv has 1 row");
  EXPECT_EQ(Describe("o.csv", {.bytes = 1, .rows = 2, .until_ms = 1'600'000'000'001}),
            "o.csv has 2 rows, complete until 2020-09-13T12:26:40.001Z");
  EXPECT_EQ(Describe("o.csv", {.bytes = 1, .rows = 0, .until_ms = kMaxEventTimeMs}),
            "o.csv has 0 rows, all of the stream");
}

}  // namespace
}  // namespace glaive::engine
