#include "engine/source/input_file.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/rdma/same_text.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// All text of a file, read in pieces of `piece` bytes; checks that no Read goes beyond it.
absl::StatusOr<std::string> ReadAll(const std::string& path, std::size_t piece = InputFile::kBlockBytes) {
  absl::StatusOr<ListedFile> listed = ListFile(path);
  if (!listed.ok()) {
    return listed.status();
  }
  absl::StatusOr<InputFile> file = InputFile::Open(*std::move(listed));
  if (!file.ok()) {
    return file.status();
  }
  std::string text;
  std::vector<char> buffer(piece);
  while (!file->ended()) {
    const absl::StatusOr<std::size_t> count = file->Read(buffer);
    if (!count.ok()) {
      return count.status();
    }
    EXPECT_LE(*count, piece);
    text.append(buffer.data(), *count);
  }
  return text;
}

/// Text of many lines that compresses somewhat and spans several blocks.
std::string LongText() {
  std::mt19937_64 random(7);
  std::string text;
  while (text.size() < 5 * InputFile::kBlockBytes) {
    absl::StrAppend(&text, random(), ",value\n");
  }
  return text;
}

class InputFileTest : public ::testing::Test {
 protected:
  std::string Write(std::string_view bytes) const { return WriteText(folder_.path() / "input", bytes); }

  std::string Refusal(std::string_view bytes) const {
    const auto text = ReadAll(Write(bytes));
    EXPECT_FALSE(text.ok());
    return std::string(text.status().message());
  }

  TemporaryFolder folder_;
};

TEST_F(InputFileTest, APlainFileIsReadWholeInPiecesOfAnySize) {
  const std::string text = LongText();
  const std::string path = Write(text);
  for (const std::size_t piece : {std::size_t{1000}, InputFile::kBlockBytes, 3 * InputFile::kBlockBytes}) {
    const auto got = ReadAll(path, piece);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(SameText(*got, text)) << piece;
  }
}

TEST_F(InputFileTest, CompressionIsToldByTheFirstBytesAndNotByTheName) {
  const std::string path = WriteText(folder_.path() / "plain.gz", "only its name is compressed\n");
  EXPECT_EQ(*ReadAll(path), "only its name is compressed\n");
  EXPECT_EQ(*ReadAll(Write(Gzip("compressed\n"))), "compressed\n");
  EXPECT_EQ(*ReadAll(Write("\x1f")), "\x1f") << "half of the two bytes";
}

TEST_F(InputFileTest, AGzipFileIsReadWholeInPiecesOfAnySize) {
  const std::string text = LongText();
  const std::string path = Write(Gzip(text));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, 3 * InputFile::kBlockBytes}) {
    const auto got = ReadAll(path, piece);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(SameText(*got, text)) << piece;
  }
}

TEST_F(InputFileTest, TextThatCompressesALotComesInBoundedPiecesToo) {
  const std::string text(50 * InputFile::kBlockBytes, 'a');
  auto file = InputFile::Open(*ListFile(Write(Gzip(text))));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<char> buffer(text.size());
  std::size_t total = 0;
  while (!file->ended()) {
    const auto count = file->Read(buffer);
    ASSERT_TRUE(count.ok()) << count.status();
    ASSERT_LE(*count, InputFile::kBlockBytes);
    total += *count;
  }
  EXPECT_EQ(total, text.size());
}

TEST_F(InputFileTest, AllMembersOfAGzipFileAreRead) {
  const std::string text = LongText();
  const std::string members = Gzip("first\n") + Gzip("") + Gzip(text) + Gzip("last\n");
  EXPECT_TRUE(SameText(*ReadAll(Write(members)), "first\n" + text + "last\n"));
  const std::string small = Gzip("small\n");
  std::string many;
  std::string expected;
  while (many.size() < 2 * InputFile::kBlockBytes) {
    many += small;
    expected += "small\n";
  }
  EXPECT_TRUE(SameText(*ReadAll(Write(many)), expected));
}

TEST_F(InputFileTest, ZerosBehindAMemberArePassedOver) {
  const std::string zeros(512, '\0');
  EXPECT_EQ(*ReadAll(Write(Gzip("padded\n") + zeros)), "padded\n");
  EXPECT_EQ(*ReadAll(Write(Gzip("padded\n") + '\0')), "padded\n");
  EXPECT_EQ(*ReadAll(Write(Gzip("first\n") + zeros + Gzip("last\n") + zeros)), "first\nlast\n");
  EXPECT_EQ(*ReadAll(Write(Gzip("long\n") + std::string(3 * InputFile::kBlockBytes, '\0'))), "long\n");
  EXPECT_EQ(*ReadAll(Write(Gzip(zeros) + zeros + Gzip(zeros))), zeros + zeros) << "text may have zeros of its own";
  EXPECT_THAT(Refusal(Gzip("padded\n") + zeros + "more"), HasSubstr("damaged gzip data")) << "nothing is left out";
}

TEST_F(InputFileTest, AMemberMayEndWhereABlockDoes) {
  std::mt19937_64 random(9);
  std::string text(InputFile::kBlockBytes, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });  // grows when compressed
  while (Gzip(text).size() > InputFile::kBlockBytes) {
    text.pop_back();
  }
  ASSERT_EQ(Gzip(text).size(), InputFile::kBlockBytes);
  EXPECT_TRUE(SameText(*ReadAll(Write(Gzip(text))), text));
  EXPECT_TRUE(SameText(*ReadAll(Write(Gzip(text) + Gzip("more\n"))), text + "more\n"));
}

TEST_F(InputFileTest, AnEmptyFileEndsAtOnce) {
  auto file = InputFile::Open(*ListFile(Write("")));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->ended());
  EXPECT_EQ(*ReadAll(Write(Gzip(""))), "");
}

TEST_F(InputFileTest, AGzipFileThatIsCutOffAnywhereIsAnErrorThatNamesFileAndByte) {
  const std::string whole = Gzip("some text\nthat is cut\n");
  for (std::size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THAT(Refusal(whole.substr(0, size)),
                AllOf(StartsWith((folder_.path() / "input: cut off").string()), HasSubstr(absl::StrCat(", ", size))));
  }
  EXPECT_THAT(Refusal(whole + whole.substr(0, 5)), HasSubstr("cut off"));
}

TEST_F(InputFileTest, DamagedGzipDataAreAnErrorThatNamesFileAndByte) {
  const std::string whole = Gzip(LongText());
  std::string damaged = whole;
  damaged[damaged.size() - 8] ^= 1;  // the first byte of the checksum
  EXPECT_THAT(Refusal(damaged), AllOf(HasSubstr("input: damaged gzip data at byte "), HasSubstr("data check")));
  EXPECT_THAT(Refusal(whole + "and more"),
              HasSubstr(absl::StrCat("damaged gzip data at byte ", whole.size() + 2, ": incorrect header")));
}

TEST_F(InputFileTest, AnyDamageIsAnErrorAndNeverACrash) {
  const std::string text = LongText().substr(0, 4000);
  const std::string whole = Gzip(text);
  std::mt19937_64 random(11);
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole;
    damaged[2 + random() % (damaged.size() - 2)] ^= static_cast<char>(1 + random() % 255);
    const auto got = ReadAll(Write(damaged));
    errors += got.ok() ? 0 : 1;
    // A header's time and system may be anything; the text is right all the same.
    if (got.ok()) EXPECT_TRUE(SameText(*got, text));
  }
  EXPECT_GT(errors, 400);
}

TEST_F(InputFileTest, WhatCannotBeOpenedOrReadIsNamed) {
  EXPECT_THAT(ReadAll(folder_.path() / "none").status().message(),
              AllOf(HasSubstr("cannot examine the input"), HasSubstr("/none: No such file")));
  EXPECT_THAT(InputFile::Open({.path = folder_.path() / "none"}).status().message(),
              AllOf(HasSubstr("cannot open the input"), HasSubstr("/none: No such file")));
  EXPECT_THAT(ReadAll(folder_.path()).status().message(), HasSubstr("Is a directory"));
}

// ---- files that change ----

void Append(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::app) << bytes; }

/// What is said of a file that changes after it was listed, before it is opened or after its first piece was read.
std::string RefusalOfChanged(const std::string& path, bool opened, const std::function<void()>& change) {
  // Some file systems note times no finer than a tick of their clock.
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(1));
  const ListedFile listed = ListFile(path).value();
  absl::StatusOr<InputFile> file = absl::UnknownError("not opened yet");
  std::vector<char> buffer(InputFile::kBlockBytes);
  if (opened) {
    file = InputFile::Open(listed);
    EXPECT_TRUE(file.ok() && file->Read(buffer).ok()) << file.status();
  }
  change();
  if (!opened) {
    file = InputFile::Open(listed);
  }
  absl::Status status = file.status();
  while (status.ok() && !file->ended()) {
    status = file->Read(buffer).status();
  }
  return std::string(status.message());
}

TEST_F(InputFileTest, AFileThatChangesAfterItWasListedIsAnErrorThatNamesIt) {
  const std::string text = LongText();
  for (const std::string& bytes : {text, Gzip(text)}) {
    for (const bool opened : {false, true}) {
      const std::string path = (folder_.path() / "input").string();
      const auto changed = [&](const std::function<void()>& change) {
        Write(bytes);
        return RefusalOfChanged(path, opened, change);
      };
      const auto says = [&](std::size_t bytes_now) {
        const std::string sizes = absl::StrCat(": it had ", bytes.size(), " bytes and has ", bytes_now);
        return HasSubstr(absl::StrCat(path, ": was written to after the run had begun",
                                      bytes_now == bytes.size() ? "" : sizes, ";"));
      };
      const auto truncate = [&](std::size_t size) { std::filesystem::resize_file(path, size); };
      EXPECT_THAT(changed([&] { Append(path, "8,more\n"); }), says(bytes.size() + 7));
      EXPECT_THAT(changed([&] { truncate(bytes.size() - 10); }), says(bytes.size() - 10));
      EXPECT_THAT(changed([&] { truncate(0); }), says(0));
      EXPECT_THAT(changed([&] { Write(bytes); }), says(bytes.size())) << "of the same size, at another time";
    }
  }
}

TEST_F(InputFileTest, AFileThatGrowsForEverEndsInAnError) {
  const std::string path = Write(LongText());
  absl::StatusOr<InputFile> file = InputFile::Open(*ListFile(path));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<char> buffer(InputFile::kBlockBytes);
  absl::Status status;
  for (int read = 0; read < 100 && status.ok(); ++read) {
    Append(path, LongText());
    status = file->Read(buffer).status();
  }
  EXPECT_THAT(status.message(), HasSubstr("was written to"));
}

}  // namespace
}  // namespace glaive::engine
