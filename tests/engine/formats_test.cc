// What is written in a format is read as the same again, and by readers that share nothing with the engine's.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_join.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/format/csv_reader.h"
#include "engine/format/csv_text.h"
#include "engine/format/json_reader.h"
#include "engine/format/json_text.h"
#include "engine/sink/csv.h"
#include "engine/sink/json_lines.h"
#include "tests/engine/described_records.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;

constexpr int kDrawnRecords = 2000;

template <typename R>
std::string InCsv(const R& record) {
  std::string line;
  AppendCsvValue(line, record);
  return line;
}
template <typename R>
std::string InJson(const R& record) {
  std::string line;
  AppendJson(line, record);
  return line;
}

Everything FromCsv(CsvReader& reader, std::string_view line, state::TextArena& texts) {
  Everything record{};
  ParseError error;
  EXPECT_EQ(reader.Read(line, &record, texts, error), Parsed::kRecord) << error.reason << "\n" << line;
  return record;
}

TEST(Formats, EachKindOfValueIsTheSameAfterCsvAndJson) {
  CsvReader csv(ShapeOf<Everything>());
  JsonReader json(ShapeOf<Everything>());
  ParseError error;
  ASSERT_EQ(csv.ReadHeader(kEverythingHeader, error), Parsed::kRecord) << error.reason;
  state::TextArena texts;
  DrawEverything draw(/*seed=*/7, texts);
  for (int i = 0; i < kDrawnRecords; ++i) {
    const Everything drawn = draw(i);
    const std::string line = InCsv(drawn);
    const Everything from_csv = FromCsv(csv, line, texts);
    ASSERT_EQ(InCsv(from_csv), line);
    ASSERT_EQ(from_csv, drawn) << line;
    std::string object = InJson(from_csv);
    const std::size_t size = object.size();
    object.resize(size + JsonReader::kPaddingBytes, '"');
    Everything from_json{};
    ASSERT_EQ(json.Read({object.data(), size}, &from_json, texts, error), Parsed::kRecord) << error.reason << object;
    ASSERT_EQ(from_json, drawn) << line << object;
  }
}

TEST(Formats, CsvHasAnyBytes) {
  CsvReader csv(ShapeOf<Everything>());
  ParseError error;
  ASSERT_EQ(csv.ReadHeader(kEverythingHeader, error), Parsed::kRecord) << error.reason;
  state::TextArena texts;
  DrawEverything draw(/*seed=*/8, texts);
  for (int i = 0; i < kDrawnRecords; ++i) {
    const Everything drawn = draw(i, /*is_utf8=*/false);
    ASSERT_EQ(FromCsv(csv, InCsv(drawn), texts), drawn) << InCsv(drawn);
  }
}

TEST(Formats, AnotherReaderOfJsonReadsTheSame) {
  state::TextArena texts;
  DrawEverything draw(/*seed=*/9, texts);
  for (int i = 0; i < kDrawnRecords; ++i) {
    const Everything drawn = draw(i);
    std::string line = InJson(drawn);
    const std::size_t total = line.find("\"total\":") + 8;  // more than 64 bits
    line.replace(total, line.find(',', total) - total, "0");
    const nlohmann::json read = nlohmann::json::parse(line);
    ASSERT_EQ(read["time_ms"].get<std::int64_t>(), drawn.time_ms);
    ASSERT_EQ(read["flag"].get<bool>(), drawn.flag);
    ASSERT_EQ(read["id"].get<std::uint64_t>(), drawn.id);
    ASSERT_EQ(read["side"].get<int>(), static_cast<int>(drawn.side));
    ASSERT_EQ(read["price"].get<double>(), drawn.price);
    ASSERT_EQ(read["title"].get<std::string>(), drawn.title.view());
    ASSERT_EQ(read["note"].is_null(), !drawn.note.has_value());
    ASSERT_EQ(read["place"]["x"].get<int>(), drawn.place.x);
    ASSERT_EQ(read["answers"].size(), 2U);
  }
}

TEST(Formats, ATextThatIsNotUtf8IsMendedInJson) {
  const auto text = [](std::string_view bytes) { return InJson(Text(bytes)); };
  EXPECT_EQ(text("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(text("\xC3\xA4\xC3"), "\"\xC3\xA4\xEF\xBF\xBD\"") << "cut off";
  EXPECT_EQ(text("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "overlong";
  EXPECT_EQ(text("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "half of a pair";
  EXPECT_EQ(text("\xF4\x90\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "beyond U+10FFFF";
  EXPECT_EQ(text("\xF0\x9D\x84\x9E"), "\"\xF0\x9D\x84\x9E\"");
  EXPECT_EQ(text(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
}

TEST(Formats, NumbersThatJsonDoesNotHaveAreNull) {
  EXPECT_EQ(InJson(std::tuple(std::numeric_limits<double>::infinity(), std::numeric_limits<float>::quiet_NaN(), 0.5)),
            "[null,null,0.5]");
}

struct Floats {
  double wide;
  float narrow;
};
GLAIVE_RECORD(Floats, wide, narrow)

/// Reads a double and a float from the fields of a line.
std::optional<Floats> FloatsOf(std::string_view wide, std::string_view narrow) {
  CsvReader csv(ShapeOf<Floats>());
  ParseError error;
  EXPECT_EQ(csv.ReadHeader("wide,narrow", error), Parsed::kRecord);
  state::TextArena texts;
  Floats read{};
  const std::string line = std::string(wide) + "," + std::string(narrow);
  return csv.Read(line, &read, texts, error) == Parsed::kRecord ? std::optional(read) : std::nullopt;
}

template <typename T>
bool IsTheSame(T a, T b) {
  return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
}

TEST(Formats, EachFloatingPointNumberIsReadAsItIsWritten) {
  using Wide = std::numeric_limits<double>;
  using Narrow = std::numeric_limits<float>;
  const std::vector<std::tuple<Floats, std::string>> cases = {
      {{-0.0, -0.0F}, "-0,-0"},
      {{Wide::denorm_min(), Narrow::denorm_min()}, "5e-324,1e-45"},
      {{-Wide::denorm_min(), -Narrow::denorm_min()}, "-5e-324,-1e-45"},
      {{Wide::min(), Narrow::min()}, "2.2250738585072014e-308,1.1754944e-38"},
      {{Wide::max(), Narrow::max()}, "1.7976931348623157e+308,3.4028235e+38"},
      {{0.1, 0.1F}, "0.1,0.1"},
      {{1e300, 16'777'216.0F}, "1e+300,16777216"},
      {{Wide::infinity(), -Narrow::infinity()}, "inf,-inf"},
      {{Wide::quiet_NaN(), Narrow::quiet_NaN()}, "nan,nan"},
  };
  for (const auto& [floats, text] : cases) {
    EXPECT_EQ(InCsv(floats), text);
    const std::size_t comma = text.find(',');
    const std::optional<Floats> read = FloatsOf(text.substr(0, comma), text.substr(comma + 1));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_TRUE(IsTheSame(read->wide, floats.wide) && IsTheSame(read->narrow, floats.narrow)) << text;
  }
}

TEST(Formats, NumbersOfOtherProgramsAreReadToTheNearest) {
  const auto wide = [](std::string_view text) {
    const std::optional<Floats> read = FloatsOf(text, "0");
    EXPECT_TRUE(read.has_value()) << text;
    return read.value_or(Floats{}).wide;
  };
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(IsTheSame(wide("3e-324"), least));
  EXPECT_TRUE(IsTheSame(wide("2e-324"), 0.0));
  EXPECT_TRUE(IsTheSame(wide("-1e-400"), -0.0));
  EXPECT_TRUE(IsTheSame(wide("INF"), std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(IsTheSame(wide("-Infinity"), -std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(IsTheSame(wide("NaN"), std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(IsTheSame(wide(".5"), 0.5) && IsTheSame(wide("5."), 5.0) && IsTheSame(wide("5E-1"), 0.5));
  for (const char* bad : {"1e400", "-1e400", "+1", "0x1p3", " 1", "1 ", "1e", "--1", "infinite", "."}) {
    EXPECT_EQ(FloatsOf(bad, "0"), std::nullopt) << bad;
  }
  EXPECT_EQ(FloatsOf("0", "1e39"), std::nullopt) << "a float has less room";
  EXPECT_TRUE(IsTheSame(FloatsOf("0", "-1e-46").value_or(Floats{}).narrow, -0.0F));
}

TEST(Formats, JsonHasAllNumbersThatAreFinite) {
  JsonReader json(ShapeOf<Floats>());
  state::TextArena texts;
  ParseError error;
  for (const Floats& floats :
       {Floats{-0.0, -0.0F},
        Floats{std::numeric_limits<double>::denorm_min(), std::numeric_limits<float>::denorm_min()},
        Floats{std::numeric_limits<double>::lowest(), std::numeric_limits<float>::max()}}) {
    std::string object = InJson(floats);
    const std::size_t size = object.size();
    object.resize(size + JsonReader::kPaddingBytes, '"');
    Floats read{};
    ASSERT_EQ(json.Read({object.data(), size}, &read, texts, error), Parsed::kRecord) << error.reason << object;
    EXPECT_TRUE(IsTheSame(read.wide, floats.wide) && IsTheSame(read.narrow, floats.narrow)) << object;
  }
}

TEST(Formats, ATextIsQuotedWhereItHasToBe) {
  EXPECT_EQ(InCsv(Text("plain 'text'")), "plain 'text'");
  EXPECT_EQ(InCsv(Text("a,b")), "\"a,b\"");
  EXPECT_EQ(InCsv(Text("a \"b\"")), "\"a \"\"b\"\"\"");
  EXPECT_EQ(InCsv(Text("a\nb")), "\"a\nb\"");
  EXPECT_EQ(InCsv(std::optional<Text>("")), "\"\"");
  EXPECT_EQ(InCsv(std::optional<Text>()), "");
  EXPECT_EQ(InCsv(std::vector<Text>{"a,b", "c"}), "\"a,b c\"") << "a list is one field";
}

template <typename T>
std::vector<std::string> NamesOf(const std::string& name) {
  std::vector<std::string> names;
  AddCsvNames<T>(names, name);
  return names;
}

struct Ratio {  // written by a function of its own, although it is described
  std::uint32_t a;
  std::uint32_t b;

  friend void AppendCsv(std::string& line, const Ratio& ratio) { absl::StrAppend(&line, ratio.a, ":", ratio.b); }
  friend void AppendJson(std::string& line, const Ratio& ratio) { absl::StrAppend(&line, "\"", ratio.a, "/\""); }
};
GLAIVE_RECORD(Ratio, a, b)

struct Renamed {  // likewise, as an object
  std::uint32_t a;

  friend void AppendJson(std::string& line, const Renamed& row) { absl::StrAppend(&line, "{\"x\":", row.a, "}"); }
};
GLAIVE_RECORD(Renamed, a)

TEST(Formats, ColumnsAreNamedAfterMembers) {
  EXPECT_EQ(absl::StrJoin(NamesOf<Everything>(""), ","), kEverythingHeader);
  EXPECT_THAT(NamesOf<Stall>("key"), ElementsAre("key.x", "key.name"));
  EXPECT_THAT(NamesOf<std::uint64_t>("key"), ElementsAre("key"));
  EXPECT_THAT((NamesOf<std::tuple<int, std::optional<Stall>, std::tuple<int, int>>>("value")),
              ElementsAre("value_1", "value_2.x", "value_2.name", "value_3", "value_4"));
  EXPECT_THAT((NamesOf<std::tuple<Text>>("value")), ElementsAre("value"));
  EXPECT_THAT((NamesOf<std::array<Stall, 2>>("at")), ElementsAre("at_1.x", "at_1.name", "at_2.x", "at_2.name"));
  EXPECT_THAT(NamesOf<Ratio>("key"), ElementsAre("key"));
  EXPECT_EQ(InCsv(Ratio{1, 2}), "1:2");
  EXPECT_EQ(CsvRow<Ratio>::Header(), "record");
}

template <typename Row>
std::vector<std::string> CsvLines(const Row& row) {
  std::string line;
  CsvRow<Row>::Append(line, row);
  return {CsvRow<Row>::Header(), line};
}
template <typename Row>
std::string JsonLine(const Row& row) {
  std::string line;
  JsonRow<Row>::Append(line, row);
  return line;
}

TEST(Formats, RowsOfEachKindHaveNamesAndValues) {
  using Value = std::tuple<std::uint64_t, std::optional<Stall>>;
  const WindowResult<Stall, Value> result{0, 10, {.x = 3, .name = "a,b"}, {2, std::nullopt}};
  EXPECT_THAT(
      CsvLines(result),
      ElementsAre("window_start_ms,window_end_ms,key.x,key.name,value_1,value_2.x,value_2.name", "0,10,3,\"a,b\",2,,"));
  EXPECT_EQ(JsonLine(result),
            R"({"window_start_ms":0,"window_end_ms":10,"key":{"x":3,"name":"a,b"},"value":[2,null]})");
  const WindowResult<AllRecords, Text> all{kMinEventTimeMs, kMaxEventTimeMs, {}, "x"};
  EXPECT_THAT(CsvLines(all), ElementsAre("window_start_ms,window_end_ms,value", ",,x"));
  EXPECT_EQ(JsonLine(all), R"({"window_start_ms":null,"window_end_ms":null,"value":"x"})");
  const LateRecord<Stall> late{5, 6, {.x = 1, .name = {}}};
  EXPECT_THAT(CsvLines(late), ElementsAre("event_time_ms,watermark_ms,x,name", "5,6,1,"));
  EXPECT_EQ(JsonLine(late), R"({"event_time_ms":5,"watermark_ms":6,"record":{"x":1,"name":null}})");
  const KeyedState<Stall, std::uint64_t> state{.key = {2, "s"}, .value = 9};
  EXPECT_THAT(CsvLines(state), ElementsAre("key.x,key.name,value", "2,s,9"));
  EXPECT_EQ(JsonLine(state), R"({"key":{"x":2,"name":"s"},"value":9})");
  EXPECT_EQ(JsonLine(std::uint64_t{7}), R"({"record":7})");
  EXPECT_EQ(JsonLine(Stall{1, "n"}), R"({"x":1,"name":"n"})");
  EXPECT_EQ(JsonLine(Renamed{4}), R"({"x":4})");
  EXPECT_EQ(JsonLine(Ratio{4, 2}), R"({"record":"4/"})") << "a line is an object";
}

TEST(Formats, ARowOfNothingButAnEmptyTextIsNoEmptyLine) {
  EXPECT_THAT(CsvLines(Text("")), ElementsAre("record", "\"\""));
  EXPECT_THAT(CsvLines(Text(" ")), ElementsAre("record", " "));
  EXPECT_THAT((CsvLines(std::array<Text, 1>{""})), ElementsAre("record_1", "\"\""));
  EXPECT_THAT((CsvLines(std::array<Text, 2>{"", ""})), ElementsAre("record_1,record_2", ","));
}

TEST(Formats, AResultOfAWindowByOrderHasTheWindowsNumberAndItsRecords) {
  const NumberedResult<std::uint64_t, std::uint64_t> row{.window = 3, .records = 10, .key = 5, .value = 7};
  const NumberedResult<AllRecords, std::uint64_t> of_all{.window = 3, .records = 10, .key = {}, .value = 7};
  EXPECT_THAT(CsvLines(row), ElementsAre("window,records,key,value", "3,10,5,7"));
  EXPECT_THAT(CsvLines(of_all), ElementsAre("window,records,value", "3,10,7"));
  EXPECT_EQ(JsonLine(row), R"({"window":3,"records":10,"key":5,"value":7})");
  EXPECT_EQ(JsonLine(of_all), R"({"window":3,"records":10,"value":7})");
}

}  // namespace
}  // namespace glaive::engine
