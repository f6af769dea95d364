#include "engine/format/json_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/scheduler.h"
#include "tests/engine/described_records.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Spot {
  std::int32_t x;
  std::optional<std::int32_t> y;
};
GLAIVE_RECORD(Spot, x, y)

struct JsonEvent {
  std::int64_t time_ms;
  Text name;
  std::optional<double> price;
  Spot at;
  std::optional<Spot> before;
  std::array<std::uint8_t, 2> pair;
};
GLAIVE_RECORD(JsonEvent, time_ms, name, price, at, before, pair)

class JsonReaderTest : public ::testing::Test {
 protected:
  Parsed Parse(std::string_view line, JsonEvent& event) {
    line_ = std::string(line) + std::string(JsonReader::kPaddingBytes, '}');
    return reader_.Read({line_.data(), line.size()}, &event, texts_, error_);
  }
  JsonEvent Read(std::string_view line) {
    JsonEvent event{};
    EXPECT_EQ(Parse(line, event), Parsed::kRecord) << error_.column << ": " << error_.reason;
    return event;
  }
  std::string Refusal(std::string_view line) {
    JsonEvent event{};
    EXPECT_EQ(Parse(line, event), Parsed::kBad) << line;
    return std::to_string(error_.column) + ": " + error_.reason;
  }
  /// A line that is right but for its last members.
  static std::string With(std::string_view members) {
    return R"({"time_ms":1,"name":"n","at":{"x":1},"pair":[1,2])" + std::string(members);
  }

  JsonReader reader_{ShapeOf<JsonEvent>()};
  state::TextArena texts_;
  ParseError error_;
  std::string line_;
};

TEST_F(JsonReaderTest, MembersHaveAnyOrderAndOthersArePassedOver) {
  const JsonEvent event = Read(
      " { \"pair\" : [ 3 , 255 ] , \"other\":{\"a\":[1,{\"b\":null}],\"time_ms\":\"x\"}, \"name\":\"a longer name\","
      "\"before\":{\"y\":-4,\"x\":5},\"price\":1e-3 ,\"at\":{\"y\":null,\"x\":-2147483648},\"time_ms\":-7 } ");
  EXPECT_EQ(event.time_ms, -7);
  EXPECT_EQ(event.name, Text("a longer name"));
  EXPECT_EQ(event.price, 0.001);
  EXPECT_EQ(event.at.x, -2147483648);
  EXPECT_EQ(event.at.y, std::nullopt);
  EXPECT_EQ(event.before->y, -4);
  EXPECT_THAT(event.pair, ::testing::ElementsAre(3, 255));
}

TEST_F(JsonReaderTest, WhatIsOptionalMayBeNullOrMissing) {
  EXPECT_EQ(Read(With("}")).price, std::nullopt);
  EXPECT_EQ(Read(With(R"(,"price":null,"before":null})")).price, std::nullopt);
}

TEST_F(JsonReaderTest, TextsHaveEscapes) {
  const auto name = [&](std::string_view text) {
    return std::string(
        Read(R"({"time_ms":1,"name":")" + std::string(text) + R"(","at":{"x":1},"pair":[1,2]})").name.view());
  };
  EXPECT_EQ(name(R"(a\"b\\c\/d\b\f\n\r\t)"), "a\"b\\c/d\b\f\n\r\t");
  EXPECT_EQ(name(R"(\u00e4\u20AC\ud834\udd1e)"), "ä€𝄞");
  EXPECT_EQ(name("ä€𝄞, as it is"), "ä€𝄞, as it is");
  EXPECT_EQ(name(R"(\u0000)"), std::string(1, '\0'));
  EXPECT_EQ(Read("{\"t\\u0069me_ms\":5,\"name\":\"\",\"at\":{\"x\":1},\"pair\":[1,2]}").time_ms, 5);
}

TEST_F(JsonReaderTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(Refusal(R"({"time_ms":"1"})"), R"(12: 'time_ms' has '\"1\"': an integer of 64 bits is expected)");
  EXPECT_EQ(Refusal(R"({"time_ms":1.0})"), "12: 'time_ms' has '1.0': an integer of 64 bits is expected");
  EXPECT_EQ(Refusal(R"({"time_ms":null})"), "12: 'time_ms' has 'null': an integer of 64 bits is expected");
  EXPECT_EQ(Refusal(R"({"time_ms":9223372036854775808})"),
            "12: 'time_ms' has '9223372036854775808': an integer of 64 bits is expected");
  EXPECT_EQ(Refusal(R"({"time_ms":1,"name":2})"), "21: 'name' has '2': a string is expected");
  EXPECT_EQ(Refusal(R"({"at":{"x":1,"y":true}})"), "18: 'at.y' has 'true': an integer of 32 bits is expected");
  EXPECT_EQ(Refusal(R"({"at":[1]})"), "7: 'at' has '[': an object is expected");
  EXPECT_EQ(Refusal(R"({"at":{"y":1}})"), "7: the object lacks 'at.x', and the member is no std::optional");
  EXPECT_EQ(Refusal(R"({"pair":[1]})"), "9: 'pair' has 1 elements, not 2");
  EXPECT_EQ(Refusal(R"({"pair":[1,2,3]})"), "9: 'pair' has more than 2 elements");
  EXPECT_EQ(Refusal(R"({"pair":[1,256]})"), "12: 'pair' has '256': an integer of 8 bits without a sign is expected");
  EXPECT_EQ(Refusal(With(R"(,"time_ms":2})")), "51: 'time_ms' is there twice");
  EXPECT_EQ(Refusal(R"( [1])"), "2: an object is expected: {\"name\":value,...}");
  EXPECT_EQ(Refusal("{}"), "1: the object lacks 'time_ms', and the member is no std::optional");
  EXPECT_THAT(Refusal(With(R"(,"price":1e400})")), HasSubstr("a number of double precision is expected"));
}

TEST_F(JsonReaderTest, AllOfALineHasToBeJson) {
  for (const std::string_view rest : {"",
                                      "} x",
                                      "}}",
                                      "},",
                                      "} {}",
                                      ",}",
                                      ",\"a\"}",
                                      ",\"a\":}",
                                      ",\"a\":tru}",
                                      ",\"a\":01}",
                                      ",\"a\":1.}",
                                      ",\"a\":1 2}",
                                      ",\"a\":[1,]}",
                                      ",\"a\":[1 2]}",
                                      ",\"a\":\"b\":1}",
                                      ",\"a\":\"b\"c}",
                                      ",\"a\":{\"b\"}}",
                                      ",\"a\":\"\\x\"}",
                                      ",\"a\":\"\\u12\"}",
                                      ",\"a\":\"\\ud834\"}",
                                      ",\"a\":\"\t\"}",
                                      ",\"a\":\"\xFF\"}",
                                      ",\"a\":\"b}",
                                      ",a:1}",
                                      ",\"a\":nulll}",
                                      ",\"a\":-}",
                                      ",\"a\":+1}",
                                      ",\"a\":.5}",
                                      ",\"a\":NaN}",
                                      ",\"a\":[}]}",
                                      ":1}"}) {
    JsonEvent event{};
    EXPECT_EQ(Parse(With(rest), event), Parsed::kBad) << rest;
    EXPECT_GE(error_.column, 1U) << rest;
    EXPECT_LE(error_.column, With(rest).size() + 1) << rest;
  }
  EXPECT_THAT(Refusal(With(" x}")), StartsWith("51: no valid JSON: "));
  EXPECT_THAT(Refusal(With(R"(,"price":1,,})")), StartsWith("61: no valid JSON: "));
}

TEST_F(JsonReaderTest, ValuesInsideEachOtherAreBounded) {
  const auto nested = [](int depth) {
    return With(",\"a\":" + std::string(static_cast<std::size_t>(depth), '[') +
                std::string(static_cast<std::size_t>(depth), ']') + "}");
  };
  Read(nested(JsonReader::kMostNested));
  EXPECT_THAT(Refusal(nested(JsonReader::kMostNested + 1)), HasSubstr("more than 64 values inside each other"));
  EXPECT_THAT(Refusal(nested(100'000)), HasSubstr("more than 64 values inside each other"));
}

/// As deep as lines may go, in any way, and deeper: in the stack that a source's fiber has.
TEST_F(JsonReaderTest, AFibersStackHoldsTheDeepestLine) {
  const auto nested = [](std::size_t depth, std::string_view open, std::string_view close) {
    std::string value;
    for (std::size_t i = 0; i < depth; ++i) value += open;
    for (std::size_t i = 0; i < depth; ++i) value += close;
    return value;
  };
  constexpr std::size_t kMost = JsonReader::kMostNested;
  std::vector<std::string> right;
  std::vector<std::string> wrong;
  for (const auto& [open, close] : {std::pair(R"({"a":)", "}"), std::pair("[", "]"), std::pair(R"([1,{"a":)", "}]")}) {
    const std::size_t levels = open[0] == '[' && open[1] != 0 ? 2 : 1;
    std::string value = nested(kMost / levels - 1, open, close);
    value.insert(value.find(close), "[]");
    right.push_back(With(",\"b\":" + value + "}"));
    wrong.push_back(With(",\"b\":" + nested(100'000, open, close) + "}"));
    wrong.push_back(With(",\"b\":" + value + "]"));
  }
  std::size_t read = 0;
  Scheduler scheduler({});
  ASSERT_TRUE(scheduler
                  .Spawn("source", FiberKind::kCompute,
                         [&](Fiber& /*fiber*/) {
                           for (const std::string& line : right) Read(line);
                           for (const std::string& line : wrong) Refusal(line);
                           read = right.size() + wrong.size();
                         })
                  .ok());
  while (!scheduler.done()) scheduler.RunRound();
  EXPECT_EQ(read, 9U);
}

TEST_F(JsonReaderTest, LinesOfAllLengthsAreRead) {
  for (std::size_t length = 1; length < 300'000; length = length * 3 / 2 + 1) {
    const std::string name(length, 'x');
    EXPECT_EQ(Read(R"({"time_ms":1,"name":")" + name + R"(","at":{"x":1},"pair":[1,2]})").name.view(), name);
    EXPECT_EQ(Read(R"({"time_ms":1,"name":"\n)" + name + R"(","at":{"x":1},"pair":[1,2]})").name.view(), "\n" + name);
  }
}

}  // namespace
}  // namespace glaive::engine
