#include "engine/format/csv_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/format/csv_quotes.h"
#include "tests/engine/described_records.h"

namespace glaive::engine {
namespace {

struct CsvTrade {
  std::int64_t time_ms;
  std::optional<Text> symbol;
  double price;
  std::optional<std::uint8_t> lot;
};
GLAIVE_RECORD(CsvTrade, time_ms, symbol, price, lot)

struct OnlyNote {
  std::optional<Text> note;
};
GLAIVE_RECORD(OnlyNote, note)

/// A reader, and what it says in one line.
template <typename R>
class Csvs {
 public:
  explicit Csvs(std::string_view header) {
    parsed_ = reader_.ReadHeader(header, error_);
    EXPECT_EQ(parsed_, Parsed::kRecord) << error_.reason;
  }

  R Read(std::string_view line) {
    R record{};
    EXPECT_EQ(reader_.Read(line, &record, texts_, error_), Parsed::kRecord) << error_.reason;
    return record;
  }
  bool IsBlank(std::string_view line) {
    R record{};
    return reader_.Read(line, &record, texts_, error_) == Parsed::kBlank;
  }
  std::string Refusal(std::string_view line) {
    R record{};
    EXPECT_EQ(reader_.Read(line, &record, texts_, error_), Parsed::kBad) << line;
    return std::to_string(error_.column) + ": " + error_.reason;
  }

 private:
  CsvReader reader_{ShapeOf<R>()};
  state::TextArena texts_;
  ParseError error_;
  Parsed parsed_;
};

std::string HeaderRefusal(std::string_view header) {
  CsvReader reader(ShapeOf<CsvTrade>());
  ParseError error;
  EXPECT_EQ(reader.ReadHeader(header, error), Parsed::kBad) << header;
  return std::to_string(error.column) + ": " + error.reason;
}

TEST(CsvReader, ColumnsHaveAnyOrderAndOthersArePassedOver) {
  Csvs<CsvTrade> csv("lot,\"price\",other,time_ms,symbol,");
  const CsvTrade trade = csv.Read("7,0.5,\"x,\"\"y\",-3,\"a \"\"long\"\" symbol, with commas\",z");
  EXPECT_EQ(trade.time_ms, -3);
  EXPECT_EQ(trade.price, 0.5);
  EXPECT_EQ(trade.lot, 7);
  EXPECT_EQ(trade.symbol, Text("a \"long\" symbol, with commas"));
}

TEST(CsvReader, AnEmptyFieldIsNoValueAndQuotesAreAnEmptyText) {
  Csvs<CsvTrade> csv("time_ms,symbol,price,lot");
  EXPECT_EQ(csv.Read("1,,2,").symbol, std::nullopt);
  EXPECT_EQ(csv.Read("1,,2,").lot, std::nullopt);
  EXPECT_EQ(csv.Read("1,\"\",2,").symbol, Text(""));
  EXPECT_EQ(csv.Read("\"1\",a,\"2.5\",\"3\"").lot, 3) << "quotes are no part of a number";
}

TEST(CsvReader, QuotesInsideAFieldWithoutThemAreCharacters) {
  Csvs<CsvTrade> csv("time_ms,symbol,price,lot");
  EXPECT_EQ(csv.Read("1,5\" pipe,2,").symbol, Text("5\" pipe"));
  EXPECT_EQ(csv.Read("1, \"a\",2,").symbol, Text(" \"a\""));
}

TEST(CsvReader, SaysWhatIsWrongAndWhere) {
  Csvs<CsvTrade> csv("time_ms,symbol,price,lot");
  EXPECT_EQ(csv.Refusal("1,a,x,3"), "5: 'price' has 'x': a number of double precision is expected");
  EXPECT_EQ(csv.Refusal("1,a,2,256"), "7: 'lot' has '256': an integer of 8 bits without a sign is expected");
  EXPECT_EQ(csv.Refusal("1,a, 2,3"), "5: 'price' has ' 2': a number of double precision is expected");
  EXPECT_EQ(csv.Refusal(",a,2,3"),
            "1: 'time_ms' is empty: an integer of 64 bits is expected, unless the member is a std::optional");
  EXPECT_EQ(csv.Refusal("1,a,2"), "6: fewer fields than the header has: 3 of 4");
  EXPECT_EQ(csv.Refusal("1,a,2,3,"), "9: more fields than the header has, 4");
  EXPECT_EQ(csv.Refusal("1,\"a,2,3"), "3: the quoted field has no closing quote");
  EXPECT_EQ(csv.Refusal("1,\"a\"b,2,3"),
            "6: a comma is expected behind the closing quote; quotes inside a quoted field are doubled");
}

TEST(CsvReader, AnEmptyLineIsBlankUnlessItIsARecord) {
  Csvs<CsvTrade> csv("time_ms,symbol,price,lot");
  EXPECT_TRUE(csv.IsBlank(""));
  Csvs<OnlyNote> notes("note");
  EXPECT_EQ(notes.Read("").note, std::nullopt);
  EXPECT_EQ(notes.Read("\"\"").note, Text(""));
  Csvs<OnlyNote> two("note,x");
  EXPECT_TRUE(two.IsBlank(""));
}

TEST(CsvReader, ALineOfBlanksIsARecordOfOneField) {
  Csvs<OnlyNote> notes("note");
  EXPECT_EQ(notes.Read("  \t").note, Text("  \t"));
  Csvs<CsvTrade> csv("time_ms,symbol,price,lot");
  EXPECT_EQ(csv.Refusal("   "), "1: 'time_ms' has '   ': an integer of 64 bits is expected");
  Csvs<CsvTrade> other("x,time_ms,symbol,price,lot");
  EXPECT_EQ(other.Refusal("   "), "4: fewer fields than the header has: 1 of 5");
}

TEST(CsvReader, AHeaderHasToHaveWhatTheRecordNeeds) {
  EXPECT_EQ(HeaderRefusal("time_ms,Price,lot"),
            "1: the header lacks 'symbol', 'price': it has 'time_ms', 'Price', 'lot', and the record needs 'time_ms', "
            "'symbol', 'price', 'lot'");
  EXPECT_EQ(HeaderRefusal("time_ms,symbol,price,lot,symbol"), "26: the header has the column 'symbol' twice");
  EXPECT_EQ(HeaderRefusal("\"time_ms"), "1: the quoted field has no closing quote");
}

struct Crash {
  Text date;
  CsvTrade trade;
  std::array<Text, 2> factors;
};
GLAIVE_RECORD(Crash, date, trade, factors)

TEST(CsvReader, ColumnsMayHaveOtherNamesThanMembers) {
  CsvReader reader(ShapeOf<Crash>(), {{"date", "CRASH DATE"},
                                      {"trade.price", "PRICE, \"NET\""},
                                      {"factors_2", "factors_1"},
                                      {"factors_1", "FACTOR 1"}});
  state::TextArena texts;
  ParseError error;
  ASSERT_EQ(reader.ReadHeader("trade.lot,FACTOR 1,factors_1,date,trade.time_ms,\"PRICE, \"\"NET\"\"\",trade.symbol,"
                              "CRASH DATE",
                              error),
            Parsed::kRecord)
      << error.reason;
  Crash crash{};
  ASSERT_EQ(reader.Read("7,a,b,passed over,5,0.5,s,01/02/2022", &crash, texts, error), Parsed::kRecord) << error.reason;
  EXPECT_EQ(crash.date, Text("01/02/2022"));
  EXPECT_EQ(crash.trade.price, 0.5);
  EXPECT_EQ(crash.trade.time_ms, 5);
  EXPECT_EQ(crash.factors[0], Text("a"));
  EXPECT_EQ(crash.factors[1], Text("b"));
  EXPECT_EQ(reader.Read("7,a,b,,5,much,s,01/02/2022", &crash, texts, error), Parsed::kBad);
  EXPECT_EQ(error.reason, "'PRICE, \"NET\"' has 'much': a number of double precision is expected");
  EXPECT_EQ(reader.ReadHeader("date,factors_1,factors_2", error), Parsed::kBad);
  EXPECT_THAT(error.reason, testing::StartsWith("the header lacks 'CRASH DATE', 'trade.time_ms', 'trade.symbol', "));
}

TEST(CsvReader, ColumnsAreOfMembersThatThereAre) {
  const auto reader_of = [](const CsvColumns& columns) { return CsvReader(ShapeOf<Crash>(), columns); };
  EXPECT_DEATH(reader_of({{"dates", "CRASH DATE"}}),
               "the column 'CRASH DATE' of a CSV file is given to the member 'dates', which the record does not have; "
               "it has 'date', 'trade.time_ms', ");
  EXPECT_DEATH(reader_of({{"factors", "FACTOR"}}), "it has .*'factors_1', 'factors_2'");
  EXPECT_DEATH(reader_of({{"date", "DAY"}, {"date", "DATE"}}),
               "the member 'date' is given two columns of a CSV file, 'DAY' and 'DATE'");
  EXPECT_DEATH(reader_of({{"date", "factors_1"}}), "two members of a record are the column 'factors_1' of a CSV file");
}

TEST(CsvReader, EachBoolAndIntegerIsRead) {
  Csvs<Everything> csv(kEverythingHeader);
  const Everything read = csv.Read(
      "1,true,-128,255,65535,-2147483648,4294967295,18446744073709551615,2,-170141183460469231731687303715884105728,"
      "0.1,1e300,t,,,-32768,,0,1");
  EXPECT_TRUE(read.flag);
  EXPECT_EQ(read.tiny, -128);
  EXPECT_EQ(read.id, 18446744073709551615U);
  EXPECT_EQ(read.side, TradeSide::kSell);
  EXPECT_EQ(read.total, absl::Int128Min());
  EXPECT_EQ(read.load, 0.1F);
  EXPECT_EQ(read.answers[0], false);
  EXPECT_EQ(read.answers[1], true);
  constexpr std::string_view kRest = ",0,0,0,0,0,1,";
  EXPECT_EQ(csv.Refusal("1,yes,0" + std::string(kRest) + "0,0,0,t,,,0,,,"),
            "3: 'flag' has 'yes': true or false is expected");
  EXPECT_EQ(csv.Refusal("1,1,0" + std::string(kRest) + "170141183460469231731687303715884105728,0,0,t,,,0,,,"),
            "19: 'total' has '170141183460469231731687303715884105728': an integer of 128 bits is expected");
  EXPECT_EQ(csv.Refusal("1,1,0" + std::string(kRest) + "0,1e39,0,t,,,0,,,"),
            "21: 'load' has '1e39': a number of single precision is expected");
}

/// The ends of records, by the definition of CsvQuotes and nothing else.
std::vector<std::size_t> EndsOf(std::string_view text) {
  std::vector<std::size_t> ends;
  bool is_field_start = true;
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        ++i;
      } else {
        in_quotes = c != '"';
      }
      continue;
    }
    in_quotes = c == '"' && is_field_start;
    is_field_start = c == ',' || c == '\n';
    if (c == '\n') ends.push_back(i);
  }
  return ends;
}

TEST(CsvQuotes, FindsTheEndsOfRecordsHoweverTheTextIsCut) {
  std::mt19937_64 random(11);
  constexpr std::string_view kAlphabet = "a,\"\"\"\n\r,\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random() % 30; i > 0; --i) text += kAlphabet[random() % kAlphabet.size()];
    const std::vector<std::size_t> expected = EndsOf(text);
    CsvQuotes quotes;
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t piece = 1 + random() % 7;
      const std::string_view part = std::string_view(text).substr(at, piece);
      const std::size_t end = quotes.FindEnd(part);
      if (end != std::string_view::npos) found.push_back(at + end);
      at += end == std::string_view::npos ? part.size() : end + 1;
    }
    ASSERT_EQ(found, expected) << text;
    // Behind any text that was gone over, the rest has the same ends.
    const std::size_t skipped = text.empty() ? 0 : random() % text.size();
    const std::size_t first = skipped / 2;
    CsvQuotes behind;
    behind.Skip(std::string_view(text).substr(0, first));
    behind.Skip(std::string_view(text).substr(first, skipped - first));
    const std::size_t next = behind.FindEnd(std::string_view(text).substr(skipped));
    const auto later = std::ranges::find_if(expected, [&](std::size_t end) { return end >= skipped; });
    ASSERT_EQ(next, later == expected.end() ? std::string_view::npos : *later - skipped) << text;
  }
}

}  // namespace
}  // namespace glaive::engine
