#include "engine/source/input_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

auto AtPath(const std::string& path) { return Field(&ListedFile::path, path); }

class InputFilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string Write(const std::string& name) const { return WriteText(folder_.path() / name, "x\n"); }

  /// What FindInputFiles says of a path in the folder that it refuses.
  std::string Refusal(const std::string& name) const {
    const auto files = FindInputFiles(Path(name));
    EXPECT_FALSE(files.ok());
    return std::string(files.status().message());
  }

  TemporaryFolder folder_;
};

TEST_F(InputFilesTest, AFileIsItself) {
  const std::string file = Write("events.csv");
  const auto files = FindInputFiles(file);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre(AtPath(file)));
  EXPECT_EQ(files->front().bytes, 2U);
}

TEST_F(InputFilesTest, AFolderIsItsFilesSortedWithoutHiddenOnesAndFolders) {
  const std::string b = Write("part-10");
  const std::string a = Write("part-02");
  const std::string c = Write("part-1a");
  for (const char* marker : {".part-00.crc", "_SUCCESS", "_metadata", "._part-10"}) {
    Write(marker);
  }
  fs::create_directory(Path("part-00"));
  WriteText(folder_.path() / "part-00" / "inner", "x\n");
  const auto files = FindInputFiles(folder_.path().string());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre(AtPath(a), AtPath(b), AtPath(c)));
}

TEST_F(InputFilesTest, APatternIsTheFilesThatItMatchesSorted) {
  const std::string b = Write("part-1.csv");
  const std::string a = Write("part-0.csv");
  Write("part-0.txt");
  Write("other.csv");
  fs::create_directory(Path("part-2.csv"));
  const auto files = FindInputFiles(Path("part-[0-9].*sv"));
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre(AtPath(a), AtPath(b)));
}

TEST_F(InputFilesTest, APatternMatchesMarkersOnlyIfItNamesThem) {
  const std::string part = Write("part-0");
  const std::string marker = Write("_SUCCESS");
  const std::string checksum = Write(".part-0.crc");
  EXPECT_THAT(*FindInputFiles(Path("*")), ElementsAre(AtPath(part)));
  EXPECT_THAT(*FindInputFiles(Path("_*")), ElementsAre(AtPath(marker)));
  EXPECT_THAT(*FindInputFiles(Path(".*crc")), ElementsAre(AtPath(checksum)));
  EXPECT_THAT(*FindInputFiles(marker), ElementsAre(AtPath(marker))) << "nor is it left out by its own name";
}

TEST_F(InputFilesTest, AFileWhoseNameLooksLikeAPatternIsThatFile) {
  Write("a1.csv");
  const std::string file = Write("a[1].csv");
  const auto files = FindInputFiles(file);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre(AtPath(file)));
}

TEST_F(InputFilesTest, WhatIsMissingIsNamedAndWhatToDoIsSaid) {
  EXPECT_THAT(Refusal("events.csv"), AllOf(HasSubstr("no input file or folder '" + Path("events.csv") + "'"),
                                           HasSubstr("relative ones start at " + fs::current_path().string())));
  EXPECT_THAT(Refusal("events-*.csv"),
              AllOf(HasSubstr("'" + Path("events-*.csv") + "' matches no file"), HasSubstr("quote it")));
  fs::create_directory(Path("empty"));
  WriteText(folder_.path() / "empty" / ".hidden", "x\n");
  WriteText(folder_.path() / "empty" / "_SUCCESS", "");
  EXPECT_THAT(Refusal("empty"), AllOf(HasSubstr("'" + Path("empty") + "' has no files"), HasSubstr("name another")));
}

TEST_F(InputFilesTest, ABrokenLinkIsNotLeftOutInSilence) {
  Write("part-0");
  fs::create_symlink("nowhere", Path("part-1"));
  EXPECT_THAT(Refusal(""), AllOf(HasSubstr(Path("part-1")), HasSubstr("broken link")));
  EXPECT_THAT(Refusal("part-*"), HasSubstr("broken link"));
}

TEST_F(InputFilesTest, APipeIsRefused) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  Write("part-0");
  for (const char* input : {"pipe", "p*", ""}) {
    EXPECT_THAT(Refusal(input), AllOf(HasSubstr(Path("pipe")), HasSubstr("only files are read")));
  }
}

using PartShare = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // a path, which share, of how many

std::vector<PartShare> SharesOf(std::span<const ListedFile> files, std::uint32_t executor,
                                std::uint32_t executor_count) {
  std::vector<PartShare> shares;
  for (const FileShare& share : FilesOf(files, ExecutorId{executor}, executor_count)) {
    shares.emplace_back(share.file.path, share.share, share.shares);
  }
  return shares;
}

TEST(FilesOf, DealsThePartsRoundWhereThereAreEnough) {
  std::vector<ListedFile> files;
  for (const char* path : {"a", "b", "c", "d", "e", "f", "g"}) {
    files.push_back({.path = path});
  }
  EXPECT_THAT(SharesOf(files, 0, 3), ElementsAre(PartShare("a", 0, 1), PartShare("d", 0, 1), PartShare("g", 0, 1)));
  EXPECT_THAT(SharesOf(files, 1, 3), ElementsAre(PartShare("b", 0, 1), PartShare("e", 0, 1)));
  EXPECT_THAT(SharesOf(files, 2, 3), ElementsAre(PartShare("c", 0, 1), PartShare("f", 0, 1)));
  EXPECT_THAT(SharesOf(files, 6, 7), ElementsAre(PartShare("g", 0, 1)));
  EXPECT_THAT(SharesOf({}, 2, 3), IsEmpty());
}

TEST(FilesOf, ExecutorsShareAPartWhereThereAreTooFew) {
  const std::vector<ListedFile> files = {{.path = "a"}, {.path = "b"}, {.path = "c"}};
  EXPECT_THAT(SharesOf(files, 0, 8), ElementsAre(PartShare("a", 0, 3)));
  EXPECT_THAT(SharesOf(files, 2, 8), ElementsAre(PartShare("c", 0, 2)));
  EXPECT_THAT(SharesOf(files, 3, 8), ElementsAre(PartShare("a", 1, 3)));
  EXPECT_THAT(SharesOf(files, 5, 8), ElementsAre(PartShare("c", 1, 2)));
  EXPECT_THAT(SharesOf(files, 7, 8), ElementsAre(PartShare("b", 2, 3)));
  EXPECT_THAT(SharesOf(files, 3, 4), ElementsAre(PartShare("a", 1, 2)));
  EXPECT_THAT(SharesOf(files, 1, 4), ElementsAre(PartShare("b", 0, 1)));
}

TEST(FilesOf, EachPartHasOneReaderWhereNoneIsShared) {
  const std::vector<ListedFile> files = {{.path = "a"}, {.path = "b"}};
  EXPECT_EQ(FilesOf(files, ExecutorId{1}, 3, /*shares_files=*/false).size(), 1U);
  EXPECT_EQ(FilesOf(files, ExecutorId{1}, 3, /*shares_files=*/false).front().shares, 1U);
  EXPECT_THAT(FilesOf(files, ExecutorId{2}, 3, /*shares_files=*/false), IsEmpty());
}

TEST(FileShare, EachByteIsInOneStretchOfOneShare) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{100},
                                    3 * kMostStretchBytes, 10 * kMostStretchBytes + 1}) {
    for (std::uint32_t shares = 1; shares <= 7; ++shares) {
      std::vector<FileStretch> all;
      for (std::uint32_t share = 0; share < shares; ++share) {
        const FileShare of{.file = {.path = "a", .bytes = bytes}, .share = share, .shares = shares};
        for (FileStretch stretch = NextStretch(of, 0); stretch.begin < bytes; stretch = NextStretch(of, stretch.end)) {
          EXPECT_LE(stretch.end - stretch.begin, kMostStretchBytes);
          all.push_back(stretch);
        }
      }
      std::ranges::sort(all, {}, &FileStretch::begin);
      std::uint64_t end = 0;
      for (const FileStretch& stretch : all) {
        EXPECT_EQ(stretch.begin, end);
        end = stretch.end;
      }
      EXPECT_GE(end, bytes) << shares;
    }
  }
}

TEST(DescribeSplit, SaysWhoReadsWhat) {
  EXPECT_EQ(DescribeSplit(1, 1), "1 part among 1 executor: executor 0 reads it");
  EXPECT_EQ(DescribeSplit(4, 1), "4 parts among 1 executor: executor 0 reads one after the other");
  EXPECT_EQ(DescribeSplit(3, 2), "3 parts among 2 executors: executor e reads parts e, e+2, ... one after the other");
  EXPECT_EQ(DescribeSplit(2, 2), "2 parts among 2 executors: executor e reads part e");
  EXPECT_EQ(DescribeSplit(1, 2), "1 part among 2 executors: all share it, but executor 0 alone reads gzip");
  EXPECT_EQ(DescribeSplit(3, 8),
            "3 parts among 8 executors: executors p, p+3, ... share part p, but executor p alone reads gzip");
}

}  // namespace
}  // namespace glaive::engine
