// Executors that share files read each line once, however many they are and wherever files are cut.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/source/csv_file.h"
#include "engine/source/input_files.h"
#include "engine/source/line_reader.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// A line that a reader found.
struct FoundLine {
  std::string text;  // "" for a header
  std::string place;

  friend auto operator<=>(const FoundLine&, const FoundLine&) = default;
};

constexpr LineRules kPlain{};
constexpr LineRules kAllLines{.csv = false, .blank_lines = true};
constexpr LineRules kCsv{.csv = true, .blank_lines = true};

/// The end of the line that begins at `at`, a character at a time: by the rule `csv` a newline in quotes ends none.
std::size_t EndOfLine(std::string_view text, std::size_t at, bool csv) {
  bool in_quotes = false;
  bool is_field_begin = true;
  for (; at < text.size() && (in_quotes || text[at] != '\n'); ++at) {
    const char c = text[at];
    if (csv && in_quotes && c == '"') {
      const bool is_doubled = text.substr(at + 1).starts_with('"');
      at += is_doubled ? 1 : 0;
      in_quotes = is_doubled;
    } else if (csv && c == '"' && is_field_begin) {
      in_quotes = true;
    }
    is_field_begin = !in_quotes && c == ',';
  }
  return at;
}

/// The lines of a file, by a reader that has all of its text at hand.
std::vector<FoundLine> LinesIn(const std::string& path, std::string_view text, const LineRules& rules) {
  std::vector<FoundLine> lines;
  std::size_t number = 1;
  bool wants_header = rules.csv;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at == 0 && text.starts_with("\xEF\xBB\xBF") ? 3 : at;
    const std::size_t end = EndOfLine(text, begin, rules.csv);
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool is_blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
    const std::string place = absl::StrCat(path, ":", number, ":1");
    if (end - at > (1U << 20)) {
      lines.push_back({"fault", absl::StrCat(place, ": the line is longer than 1048576 bytes",
                                             rules.csv ? "; perhaps a quote is not closed" : "")});
    } else if (wants_header) {
      wants_header = is_blank;
    } else if (rules.blank_lines || !is_blank) {
      lines.push_back({std::string(line), place});
    }
    number += static_cast<std::size_t>(std::ranges::count(text.substr(at, end + 1 - at), '\n'));
    at = end + 1;
  }
  return lines;
}

class SharedFilesTest : public ::testing::Test {
 protected:
  std::vector<ListedFile> Write(const std::vector<std::string>& texts) {
    std::vector<std::string> paths;
    for (const std::string& text : texts) {
      paths.push_back(WriteText(folder_.path() / absl::StrCat("part-", paths.size()), text));
      text_of_[paths.back()] = text;
    }
    return Listed(paths);
  }

  /// The lines of an executor, headers left out; faults as their words.
  static std::vector<FoundLine> Read(const std::vector<FileShare>& shares, LineRules rules,
                                     std::size_t* headers = nullptr) {
    LineReader reader(shares, rules);
    std::vector<FoundLine> found;
    while (true) {
      switch (reader.Next()) {
        case LineEvent::kLine:
          found.push_back({std::string(reader.line()), reader.Place(1)});
          break;
        case LineEvent::kHeader:
          if (headers != nullptr) ++*headers;
          break;
        case LineEvent::kFault:
          found.push_back({"fault", reader.fault()});
          break;
        case LineEvent::kWait:
          (void)reader.Next();  // changes nothing
          if (const absl::Status status = reader.Read(); !status.ok()) {
            ADD_FAILURE() << status;
            return found;
          }
          break;
        case LineEvent::kEnd:
          return found;
      }
    }
  }

  /// Reads the files with 1 to `most` executors, and compares their lines with those that are there.
  void ExpectTheSameLines(const std::vector<ListedFile>& files, LineRules rules, std::uint32_t most = 7) const {
    std::vector<FoundLine> expected;
    for (const ListedFile& file : files) {
      std::ranges::move(LinesIn(file.path, text_of_.at(file.path), rules), std::back_inserter(expected));
    }
    std::ranges::sort(expected);
    for (std::uint32_t executors = 1; executors <= most; ++executors) {
      std::vector<FoundLine> all;
      for (std::uint32_t executor = 0; executor < executors; ++executor) {
        std::ranges::move(Read(FilesOf(files, ExecutorId{executor}, executors), rules), std::back_inserter(all));
      }
      std::ranges::sort(all);
      const bool has_numbers = rules.csv || executors <= files.size();
      ASSERT_EQ(all.size(), expected.size()) << executors << " executors";
      std::vector<std::string> texts;
      std::vector<std::string> expected_texts;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (has_numbers) ASSERT_EQ(all[i], expected[i]) << executors << " executors: " << all[i].place;
        texts.push_back(all[i].text);
        expected_texts.push_back(expected[i].text);
      }
      ASSERT_EQ(texts, expected_texts) << executors << " executors";
    }
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> text_of_;  // of a file, by its path
};

TEST_F(SharedFilesTest, EachLineOfSmallFilesIsReadOnce) {
  const std::vector<std::string> texts = {
      "",
      "\n",
      "one",
      "one\n",
      "\none\n\n\n\n\n\n\n\n\n\n\n\ntwo",
      "one\r\ntwo\r\n\r\nthree\r\n",
      "\xEF\xBB\xBFone\ntwo\n",
      "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n",
      "short\n" + std::string(5000, 'x') + "\nshort\n",
      std::string(300'000, 'x') + "\n1\n2\n3\n" + std::string(300'000, 'y') + "\n",
  };
  for (const std::string& text : texts) {
    ExpectTheSameLines(Write({text}), kPlain);
    ExpectTheSameLines(Write({text}), kAllLines);
    ExpectTheSameLines(Write({text}), kCsv);
    ExpectTheSameLines(Write({text, "other\nlines\n", text}), kAllLines);
  }
}

TEST_F(SharedFilesTest, RandomTextsAreReadOnceByAllRules) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 400; ++round) {
    constexpr std::string_view kPieces[] = {"\n",  "\r\n", "a",    "\"",   "\"\"", ",",
                                            ",\"", "\",",  "\"\n", "\n\"", "bc\n", " "};
    std::string text;
    for (std::uint64_t i = random() % 60; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    const std::vector<ListedFile> files = Write({text});
    for (const LineRules& rules : {kPlain, kAllLines, kCsv}) {
      ExpectTheSameLines(files, rules);
      if (HasFatalFailure()) {
        FAIL() << text;
      }
    }
  }
}

TEST_F(SharedFilesTest, QuotedLineBreaksAreNoEndsWhereverAFileIsCut) {
  // In the middle of the long field, each line looks like a record, and quotes look as if they opened.
  std::string inside;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&inside, i, ",\"\"x\"\",\n\"\"", i, "\"\"\n");
  std::string text = "id,text\n1,\"" + inside + "\"\n2,b\n";
  for (int i = 3; i < 2000; ++i) absl::StrAppend(&text, i, i % 3 == 0 ? ",\"a\nb\"\n" : ",5\" pipe\n");
  const std::vector<ListedFile> files = Write({text});
  EXPECT_EQ(Read(WholeFiles(files), kCsv).size(), 1999U);
  ExpectTheSameLines(files, kCsv);
}

TEST_F(SharedFilesTest, AQuoteThatIsNeverClosedIsOneBadLine) {
  const std::vector<ListedFile> files = Write({"id,text\n1,a\n2,\"b\n3,c\n4,d\n"});
  EXPECT_EQ(Read(WholeFiles(files), kCsv).back().text, "2,\"b\n3,c\n4,d\n");
  ExpectTheSameLines(files, kCsv);
  std::string text = "id,text\n1,\"";
  for (int i = 0; i < 400'000; ++i) text += "x,y\n";
  const std::vector<ListedFile> longer = Write({text});
  EXPECT_THAT(Read(WholeFiles(longer), kCsv).back().place, HasSubstr("perhaps a quote is not closed"));
  ExpectTheSameLines(longer, kCsv);
}

TEST_F(SharedFilesTest, LargeFilesAreReadInTurnAndInOrder) {
  std::string text = "number,note\n";
  std::uint64_t number = 0;
  while (text.size() < 5 * kMostStretchBytes) {
    absl::StrAppend(&text, number, number % 50 == 0 ? ",\"a long\nnote, " : ",", std::string(number % 997, '-'),
                    number % 50 == 0 ? "\"\n" : "\n");
    ++number;
  }
  const std::vector<ListedFile> files = Write({text});
  for (const LineRules& rules : {kPlain, kCsv}) {
    ExpectTheSameLines(files, rules, /*most=*/3);
  }
  for (std::uint32_t executor = 0; executor < 2; ++executor) {
    std::size_t headers = 0;
    const std::vector<FoundLine> lines = Read(FilesOf(files, ExecutorId{executor}, 2), kCsv, &headers);
    EXPECT_EQ(headers, 1U) << "each executor has the header";
    EXPECT_GT(lines.size(), number / 3);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      ASSERT_LT(std::stoull(lines[i - 1].text), std::stoull(lines[i].text));
    }
  }
  const std::vector<FoundLine> first = Read(FilesOf(files, ExecutorId{0}, 2), kCsv);
  EXPECT_GT(std::stoull(first.back().text), number * 4 / 5) << "the fifth stretch is the first executor's, too";
}

TEST_F(SharedFilesTest, APlaceNamesTheByteAtWhichALineBeginsWhereNumbersAreNotKnown) {
  const std::vector<ListedFile> files = Write({"one\ntwo\nthree\nfour\n"});
  const std::vector<FoundLine> second = Read(FilesOf(files, ExecutorId{1}, 2), kAllLines);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].text, "four");
  EXPECT_EQ(second[0].place, files[0].path + ":byte 15:1");
}

TEST_F(SharedFilesTest, AGzipFileIsReadByOneExecutorAlone) {
  const std::vector<ListedFile> files = Write({Gzip("one\ntwo\nthree\n"), "a\nb\nc\n"});
  EXPECT_EQ(Read(FilesOf(files, ExecutorId{0}, 5), kPlain).size(), 3U);
  EXPECT_EQ(Read(FilesOf(files, ExecutorId{2}, 5), kPlain).size(), 0U);
  EXPECT_EQ(Read(FilesOf(files, ExecutorId{4}, 5), kPlain).size(), 0U);
  text_of_[files[0].path] = "one\ntwo\nthree\n";
  ExpectTheSameLines(files, kPlain);
  ExpectTheSameLines(files, kCsv);
}

TEST_F(SharedFilesTest, AFileThatChangesIsFoundByEachExecutor) {
  for (std::uint32_t executor = 0; executor < 3; ++executor) {
    const std::vector<ListedFile> files = Write({"a\nb\nc\nd\ne\nf\n"});
    LineReader reader(FilesOf(files, ExecutorId{executor}, 3), kPlain);
    ASSERT_EQ(reader.Next(), LineEvent::kWait);
    ASSERT_TRUE(reader.Read().ok());  // all of it
    WriteText(files[0].path, "a\nb\nc\nd\ne\nf\ng\n");
    absl::Status status;
    for (LineEvent event = reader.Next(); event != LineEvent::kEnd && status.ok(); event = reader.Next()) {
      if (event == LineEvent::kWait) status = reader.Read();
    }
    EXPECT_THAT(status.message(), HasSubstr("was written to after the run had begun")) << executor;
  }
}

}  // namespace
}  // namespace glaive::engine
