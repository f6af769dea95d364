#include "engine/source/input_file.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// All text of a file, read in pieces of `piece` bytes; checks that no Read goes beyond it.
absl::StatusOr<std::string> ReadAll(const std::string& path, std::size_t piece = InputFile::kBlockBytes) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
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
    EXPECT_TRUE(*got == text) << piece;
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
    EXPECT_TRUE(*got == text) << piece;
  }
}

TEST_F(InputFileTest, TextThatCompressesALotComesInBoundedPiecesToo) {
  const std::string text(50 * InputFile::kBlockBytes, 'a');
  auto file = InputFile::Open(Write(Gzip(text)));
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
  EXPECT_TRUE(*ReadAll(Write(members)) == "first\n" + text + "last\n");
  const std::string small = Gzip("small\n");
  std::string many;
  std::string expected;
  while (many.size() < 2 * InputFile::kBlockBytes) {
    many += small;
    expected += "small\n";
  }
  EXPECT_TRUE(*ReadAll(Write(many)) == expected);
}

TEST_F(InputFileTest, AMemberMayEndWhereABlockDoes) {
  std::mt19937_64 random(9);
  std::string text(InputFile::kBlockBytes, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });  // grows when compressed
  while (Gzip(text).size() > InputFile::kBlockBytes) {
    text.pop_back();
  }
  ASSERT_EQ(Gzip(text).size(), InputFile::kBlockBytes);
  EXPECT_TRUE(*ReadAll(Write(Gzip(text))) == text);
  EXPECT_TRUE(*ReadAll(Write(Gzip(text) + Gzip("more\n"))) == text + "more\n");
}

TEST_F(InputFileTest, AnEmptyFileEndsAtOnce) {
  auto file = InputFile::Open(Write(""));
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
    EXPECT_TRUE(!got.ok() || *got == text);
  }
  EXPECT_GT(errors, 400);
}

TEST_F(InputFileTest, WhatCannotBeOpenedOrReadIsNamed) {
  EXPECT_THAT(ReadAll(folder_.path() / "none").status().message(),
              AllOf(HasSubstr("cannot open the input"), HasSubstr("/none: No such file")));
  EXPECT_THAT(ReadAll(folder_.path()).status().message(), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace glaive::engine
