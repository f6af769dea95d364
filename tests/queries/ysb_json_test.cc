#include "queries/ysb/ysb_json.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "tests/queries/event_lines.h"

namespace glaive::queries::ysb {
namespace {

using engine::Parsed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kLine =
    R"({"user_id": "00112233-4455-6677-8899-aabbccddeeff", "page_id": "ffeeddcc-bbaa-9988-7766-554433221100", )"
    R"("ad_id": "0123ABCD-4567-89ef-0123-456789abcdef", "ad_type": "sponsored-search", "event_type": "purchase", )"
    R"("event_time": "1480452812345", "ip_address": "1.2.3.4"})";

struct Outcome {
  Parsed parsed;
  YsbEvent event{};
  engine::ParseError error;
};

Outcome Parse(std::string_view line) {
  Outcome outcome;
  outcome.parsed = ParseYsbJson{}(line, outcome.event, outcome.error);
  return outcome;
}

/// "COLUMN: reason" of a line that is bad.
std::string Refusal(std::string_view line) {
  const Outcome outcome = Parse(line);
  EXPECT_EQ(outcome.parsed, Parsed::kBad) << line;
  return absl::StrCat(outcome.error.column, ": ", outcome.error.reason);
}

/// kLine with something else in it.
std::string With(std::string_view old, std::string_view replacement) {
  std::string line(kLine);
  const std::size_t at = line.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return line.replace(at, old.size(), replacement);
}

std::vector<int> Bytes(const std::uint8_t* bytes) { return {bytes, bytes + 16}; }

TEST(ParseYsbJson, ReadsEveryField) {
  const Outcome outcome = Parse(kLine);
  ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.reason;
  EXPECT_THAT(Bytes(outcome.event.user_id), ElementsAre(0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
                                                        0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff));
  EXPECT_THAT(Bytes(outcome.event.page_id), ElementsAre(0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66,
                                                        0x55, 0x44, 0x33, 0x22, 0x11, 0x00));
  EXPECT_THAT(Bytes(outcome.event.ad_uuid), ElementsAre(0x01, 0x23, 0xab, 0xcd, 0x45, 0x67, 0x89, 0xef, 0x01, 0x23,
                                                        0x45, 0x67, 0x89, 0xab, 0xcd, 0xef));
  EXPECT_EQ(std::uint64_t{outcome.event.ad_id}, 0xef896745cdab2301U) << "the first 8 bytes";
  EXPECT_EQ(outcome.event.ad_type, AdType::kSponsoredSearch);
  EXPECT_EQ(outcome.event.event_type, EventType::kPurchase);
  EXPECT_EQ(std::int64_t{outcome.event.event_time_ms}, 1'480'452'812'345);
  EXPECT_EQ(std::uint32_t{outcome.event.ip}, 0x01020304U);
}

TEST(ParseYsbJson, ReadsBackWhatIsWrittenAndNumbersIt) {
  std::vector<YsbEvent> events(2000);
  YsbGenerator(Profile::kYahoo, {}).Fill(3, 0, events);
  const CampaignTable campaigns;
  ParseYsbJson parse;
  for (const YsbEvent& expected : events) {
    YsbEvent event{};
    engine::ParseError error;
    EXPECT_EQ(parse("no event", event, error), Parsed::kBad) << "has no number";
    ASSERT_EQ(parse(JsonLine(expected), event, error), Parsed::kRecord) << error.reason;
    EXPECT_EQ(std::memcmp(&event, &expected, sizeof(event)), 0) << JsonLine(expected);
    EXPECT_NE(campaigns.Find(event.ad_id), 0U);
  }
}

TEST(ParseYsbJson, TakesAnyOrderAndSpacingOtherFieldsAndATimeThatIsANumber) {
  const std::string line =
      R"( {"extra":{"ad_id":[1,{"ad_id":2}]},"ip_address":"255.0.10.200","event_time":1480452812345,)"
      R"("event_type"  :  "view","more":[[],{}, null, true, -1, 2, 3.5, "ad_id"],"ad_type":"mail",)"
      R"("ad_id":"00000000-0000-0000-0000-000000000001","page_id":"00000000-0000-0000-0000-000000000002",)"
      R"("user_id":"00000000-0000-0000-0000-000000000003"} )";
  const Outcome outcome = Parse(line);
  ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.column << outcome.error.reason;
  EXPECT_EQ(std::int64_t{outcome.event.event_time_ms}, 1'480'452'812'345);
  EXPECT_EQ(outcome.event.event_type, EventType::kView);
  EXPECT_EQ(outcome.event.ad_type, AdType::kMail);
  EXPECT_EQ(std::uint32_t{outcome.event.ip}, 0xff000ac8U);
  EXPECT_EQ(outcome.event.user_id[15], 3);
}

TEST(ParseYsbJson, NumbersOfOtherFieldsMayBeOfAnySize) {
  for (const char* number : {"1e400", "-1E+99999", "1e-99999", "0.5e4000", "123456789012345678901234567890"}) {
    const std::string value = absl::StrCat(R"("purchase", "trace": )", number, R"(, "all": [1, {"of": )", number, "}]");
    const Outcome outcome = Parse(With("\"purchase\"", value));
    EXPECT_EQ(outcome.parsed, Parsed::kRecord) << number << ": " << outcome.error.reason;
    EXPECT_EQ(outcome.event.event_type, EventType::kPurchase);
  }
  const std::string digits(2'000, '9');
  EXPECT_EQ(Parse(With("\"purchase\"", absl::StrCat(R"("purchase", "trace": )", digits))).parsed, Parsed::kRecord);
  for (const char* none : {"01e400", "1.e400", ".5", "+1", "1e", "NaN"}) {
    EXPECT_THAT(Refusal(With("\"purchase\"", absl::StrCat(R"("purchase", "trace": )", none))),
                HasSubstr("no valid JSON"));
  }
}

TEST(ParseYsbJson, AWrongValueIsNamedWithItsColumn) {
  const std::size_t type = kLine.find("\"purchase\"") + 1;
  EXPECT_EQ(Refusal(With("purchase", "buy")),
            absl::StrCat(type, ": event_type is 'buy'; one of view, click, purchase is expected"));
  EXPECT_EQ(Refusal(With("\"purchase\"", "17")),
            absl::StrCat(type, ": event_type is '17'; one of view, click, purchase is expected"));
  EXPECT_THAT(Refusal(With(": \"purchase\"", "  :\t  null")),
              HasSubstr(absl::StrCat(type + 4, ": event_type is 'null'")));
  EXPECT_THAT(Refusal(With("\"purchase\"", "[1]")), HasSubstr(absl::StrCat(type, ": event_type is 'an array'")));
  EXPECT_THAT(Refusal(With("\"purchase\"", "{}")), HasSubstr(absl::StrCat(type, ": event_type is 'an object'")));
  EXPECT_THAT(Refusal(With("\"purchase\"", "true")), HasSubstr(absl::StrCat(type, ": event_type is 'true'")));
  EXPECT_THAT(Refusal(With("sponsored-search", "Banner")), HasSubstr("ad_type is 'Banner'; one of banner, modal, "));
  EXPECT_THAT(Refusal(With("4455-", "44556")), HasSubstr("user_id is '00112233-445566677"));
  EXPECT_THAT(Refusal(With("aabbccddeeff", "aabbccddeefg")), HasSubstr("; a UUID is expected"));
  EXPECT_THAT(Refusal(With("aabbccddeeff", "aabbccddee-1")), HasSubstr("; a UUID is expected"));
  EXPECT_THAT(Refusal(With("aabbccddeeff", "aabbccddeefff")), HasSubstr("; a UUID is expected"));
}

TEST(ParseYsbJson, ATimeIsAWholeNumberThatIsNotAbsurd) {
  const std::string_view time = "\"1480452812345\"";
  EXPECT_EQ(Parse(With(time, "0")).parsed, Parsed::kRecord);
  EXPECT_EQ(Parse(With(time, "253402300799999")).parsed, Parsed::kRecord);
  for (const char* wrong :
       {"\"\"", "\"1480452812345.5\"", "\"now\"", "\"-1\"", "\"-0\"", "\" 1\"", "-1", "-0", "1.5", "1e12", "1e400",
        "253402300800000", "\"9223372036854775807\"", "18446744073709551615", "null"}) {
    EXPECT_THAT(Refusal(With(time, wrong)), HasSubstr("a time in milliseconds since 1970 is expected")) << wrong;
  }
}

TEST(ParseYsbJson, AnAddressHasFourNumbers) {
  for (const char* wrong :
       {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", "1..3.4", "1.2.3.-1", "1.2.-0.4", "::1", "1.2.3.0004"}) {
    EXPECT_THAT(Refusal(With("1.2.3.4", wrong)), HasSubstr("an address like 1.2.3.4 is expected")) << wrong;
  }
}

TEST(ParseYsbJson, AMissingOrRepeatedFieldIsNamed) {
  for (const char* name : {"user_id", "page_id", "ad_id", "ad_type", "event_type", "event_time", "ip_address"}) {
    EXPECT_EQ(Refusal(With(absl::StrCat("\"", name), "\"renamed")),
              absl::StrCat(kLine.size() + 7 - std::strlen(name) + 1, ": the field ", name, " is missing"));
  }
  EXPECT_EQ(Refusal("{}"), "3: the field user_id is missing");
  EXPECT_THAT(Refusal(With("\"page_id\"", "\"user_id\"")), HasSubstr("the field user_id is there twice"));
}

TEST(ParseYsbJson, WhatIsNoJsonIsRefusedAtItsColumn) {
  EXPECT_THAT(Refusal("{\"user_id\" 1}"), HasSubstr("12: no valid JSON: syntax error while parsing object separator"));
  EXPECT_THAT(Refusal(std::string(kLine) + "x"), HasSubstr(absl::StrCat(kLine.size() + 1, ": no valid JSON")));
  EXPECT_THAT(Refusal(std::string(kLine) + std::string(kLine)),
              HasSubstr(absl::StrCat(kLine.size() + 1, ": no valid JSON")));
  const std::string nul(1, '\0');  // by itself the lexer would end there, and read what is before
  EXPECT_EQ(Refusal(std::string(kLine) + nul), absl::StrCat(kLine.size() + 1, ": no valid JSON: a byte is NUL"));
  EXPECT_EQ(Refusal(std::string(kLine) + nul + "{"), absl::StrCat(kLine.size() + 1, ": no valid JSON: a byte is NUL"));
  EXPECT_THAT(Refusal(""), HasSubstr("1: no valid JSON"));
  EXPECT_THAT(Refusal(With("purchase", "\xff")), HasSubstr("invalid string"));
  for (const char* value : {"17", "\"text\"", "null", "[]", "-1", "1.5", "true"}) {
    EXPECT_EQ(Refusal(value), "1: an object is expected: {\"user_id\": ...}") << value;
  }
}

TEST(ParseYsbJson, ALineThatIsCutOffAnywhereIsRefusedAtItsEnd) {
  for (std::size_t size = 0; size < kLine.size(); ++size) {
    const Outcome outcome = Parse(kLine.substr(0, size));
    EXPECT_EQ(outcome.parsed, Parsed::kBad);
    EXPECT_EQ(outcome.error.column, size + 1);
  }
}

TEST(ParseYsbJson, MessagesStayShortAndPrintable) {
  for (const std::string& line : {With("purchase", std::string(100'000, 'y')), std::string(100'000, '['),
                                  "{\"user_id\": \"" + std::string(100'000, '\x01'),
                                  "{\"user_id\": \"" + std::string(100'000, 'a') + "\xff\xfe"}) {
    const std::string refusal = Refusal(line);
    EXPECT_LT(refusal.size(), 1000U);
    EXPECT_TRUE(std::all_of(refusal.begin(), refusal.end(), [](char c) { return c >= ' ' && c <= '~'; })) << refusal;
  }
}

TEST(ParseYsbJson, RandomDamageIsRefusedOrReadAndNeverCrashes) {
  ExpectDamageIsRefusedOrRead(kLine, [](const std::string& line) { return Parse(line); });
}

}  // namespace
}  // namespace glaive::queries::ysb
