// The table of query 13 as a file: what is read and written, and which files are refused.

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/nexmark/suite/side_input.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::queries::nexmark::suite {
namespace {

using engine::WriteText;
using ::testing::HasSubstr;

class SideInputTest : public ::testing::Test {
 protected:
  absl::StatusOr<SideInput> Read(std::string_view text) { return ReadSideInput(WriteText(path_, text), GoOn); }
  std::string ErrorOf(std::string_view text) {
    const auto table = Read(text);
    return table.ok() ? "none" : std::string(table.status().message());
  }

  engine::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "side.csv";
};

TEST_F(SideInputTest, KeysHaveTheirValues) {
  const auto table = Read("value,note,key\n\"a, \"\"b\"\"\",x,7\r\n\nc,y,0\n,z,12345");
  ASSERT_EQ(table.status(), absl::OkStatus());
  EXPECT_EQ(*table, (SideInput{{0, "c"}, {7, "a, \"b\""}, {12'345, ""}}));
}

TEST_F(SideInputTest, ItsTextReadsBack) {
  const SideInput table{{1, "a"}, {2, ""}, {30, " \"x\",\ny "}};
  EXPECT_EQ(*Read(SideInputAsCsv(table)), table);
  EXPECT_EQ(*Read(SideInputAsCsv(AllSideKeys())), AllSideKeys());
  WriteText(path_, engine::Gzip(SideInputAsCsv(table)));
  EXPECT_EQ(*ReadSideInput(path_, GoOn), table);
}

TEST_F(SideInputTest, AllKeysAreThoseThatABidCanHave) {
  const SideInput all = AllSideKeys();
  EXPECT_EQ(all.size(), kSideInputKeys);
  EXPECT_EQ(all.begin()->second, "0");
  EXPECT_EQ(all.rbegin()->first, 9'999U);
  EXPECT_EQ(all.rbegin()->second, "9999");
}

TEST_F(SideInputTest, WrongFilesAreRefusedWithThePlace) {
  const std::string path = path_.string();
  EXPECT_THAT(ErrorOf("key,value\n1,a\n2,b\n1,c\n"), HasSubstr(absl::StrCat(path, ":4:1: the key 1 is there twice")));
  EXPECT_THAT(ErrorOf("key,value\n-1,a\n"), HasSubstr(absl::StrCat(path, ":2:1: ")));
  EXPECT_THAT(ErrorOf("key,value\n1\n"), HasSubstr(absl::StrCat(path, ":2:")));
  EXPECT_THAT(ErrorOf("key,name\n1,a\n"), HasSubstr("value"));
  EXPECT_THAT(ErrorOf("key,value\n"), HasSubstr("has no rows"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("has no rows"));
  EXPECT_THAT(ErrorOf("key,value\n1,\"a\n"), HasSubstr(absl::StrCat(path, ":2:")));
  EXPECT_FALSE(ReadSideInput((folder_.path() / "none.csv").string(), GoOn).ok());
}

TEST_F(SideInputTest, TheWatchEndsTheReading) {
  const std::string path = WriteText(path_, "key,value\n1,a\n");
  EXPECT_TRUE(absl::IsCancelled(ReadSideInput(path, [] { return absl::CancelledError("ended"); }).status()));
}

}  // namespace
}  // namespace glaive::queries::nexmark::suite
