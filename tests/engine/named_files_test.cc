#include "engine/flags/named_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NamedFilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() / name; }
  NamedFile Output(const std::string& name) const { return {"output", Path(name), FileUse::kWriteParts}; }
  NamedFile Late(const std::string& name) const { return {"late-output", Path(name), FileUse::kWriteParts}; }
  NamedFile Report(const std::string& name) const { return {"json", Path(name), FileUse::kWrite}; }
  NamedFile Input(const std::string& name) const { return {"input", Path(name), FileUse::kRead}; }
  NamedFile Table(const std::string& name) const { return {"ads", Path(name), FileUse::kRead}; }
  static absl::Status Check(const std::vector<NamedFile>& files) { return CheckNamedFiles(files, 12, true); }
  static void ExpectRefused(const std::vector<NamedFile>& files, const std::string& why) {
    EXPECT_EQ(Check(files).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Check(files).message(), HasSubstr(why));
  }

  TemporaryFolder folder_;
};

TEST_F(NamedFilesTest, FilesOfTheirOwnGoTogether) {
  WriteText(Path("events"), "");
  EXPECT_EQ(Check({Input("events"), Table("ads"), Output("o"), Late("late"), Report("r")}), absl::OkStatus());
  EXPECT_EQ(Check({Input("events"), Table("events")}), absl::OkStatus()) << "two flags may read one file";
}

TEST_F(NamedFilesTest, OneFileOfTwoFlagsIsRefusedByBothNames) {
  const absl::Status status = Check({Output("o"), Report("o")});
  EXPECT_THAT(status.message(), AllOf(HasSubstr("--json="), HasSubstr("--output="), HasSubstr("the same file")));
  ExpectRefused({Report("o"), Output("o")}, "the same file");
  ExpectRefused({Output("o"), Late("o")}, "the same file");
  WriteText(Path("events"), "");
  ExpectRefused({Input("events"), Report("events")}, "the same file");
  ExpectRefused({Table("events"), Output("events")}, "the same file");
}

TEST_F(NamedFilesTest, AFileIsTheSameHoweverItIsWritten) {
  fs::create_directory(Path("sub"));
  ExpectRefused({Output("o"), Report("./o")}, "the same file");
  ExpectRefused({Output("o"), Report("sub/../o")}, "the same file");
  fs::create_directory_symlink("sub", Path("to_sub"));
  ExpectRefused({Output("sub/o"), Report("to_sub/o")}, "the same file");
  fs::create_symlink("o", Path("to_o"));  // there is no o yet
  ExpectRefused({Output("o"), Report("to_o")}, "the same file");
  WriteText(Path("events"), "");
  fs::create_hard_link(Path("events"), Path("hard"));
  ExpectRefused({Input("events"), Report("hard")}, "the same file");
  ExpectRefused({Report("hard"), Input("events")}, "the same file");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  ExpectRefused({Output("o"), {"json", "o", FileUse::kWrite}}, "the same file");
  fs::current_path(before);
}

TEST_F(NamedFilesTest, PartsAreFilesOfTheirOutput) {
  ExpectRefused({Report("o.part-011-of-012"), Output("o")}, "one of its parts");
  ExpectRefused({Output("o"), Report("o.part-011-of-012")}, "one of its parts");
  ExpectRefused({Output("o"), Late("o.part-000-of-012")}, "one of its parts");
  WriteText(Path("o.part-000-of-012"), "");
  WriteText(Path("o.part-001-of-012"), "");
  ExpectRefused({Input("o.part-001-of-012"), Output("o")}, "one of its parts");
  fs::create_hard_link(Path("o.part-001-of-012"), Path("events"));
  ExpectRefused({Input("events"), Output("o")}, "one of its parts");
  EXPECT_EQ(Check({Output("o"), Report("o.json")}), absl::OkStatus());
}

TEST_F(NamedFilesTest, WhatTheNextRunWouldReadAsInputIsRefused) {
  fs::create_directory(Path("trace"));
  WriteText(Path("trace/part-0"), "");
  ExpectRefused({Input("trace"), Output("trace/o")}, "would be part of the input --input=");
  ExpectRefused({Input("trace"), Report("trace/../trace/r")}, "would be part of the input");
  ExpectRefused({Input("trace/*"), Report("trace/r")}, "would be part of the input");
  ExpectRefused({Input("tr*/p*"), Report("trace/pr")}, "would be part of the input");
  ExpectRefused({Input("trace/*-003-of-*"), Output("trace/o")}, "would be part of the input");
  EXPECT_EQ(Check({Input("trace/part-*"), Report("trace/r"), Output("trace/o")}), absl::OkStatus());
  EXPECT_EQ(Check({Input("trace"), Report("r"), Output("o")}), absl::OkStatus());
}

TEST_F(NamedFilesTest, DevicesAndPipesTakeFromAllButNoParts) {
  const NamedFile null{"json", "/dev/null", FileUse::kWrite};
  EXPECT_EQ(Check({null, {"export-input", "/dev/null", FileUse::kWrite}}), absl::OkStatus());
  ExpectRefused({{"output", "/dev/null", FileUse::kWriteParts}}, "--output=/dev/null: this is a device or a pipe");
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  ExpectRefused({Output("pipe")}, "this is a device or a pipe");
  EXPECT_EQ(Check({Report("pipe")}), absl::OkStatus());
}

TEST_F(NamedFilesTest, AFileMustHaveAFolderAndBeNone) {
  ExpectRefused({Report("no/r")}, "there is no directory");
  ExpectRefused({Output("no/o")}, "there is no directory");
  ExpectRefused({Report("")}, "this is a directory");
  fs::create_symlink("no/r", Path("dangling"));
  ExpectRefused({Report("dangling")}, "there is no directory");
}

}  // namespace
}  // namespace glaive::engine
