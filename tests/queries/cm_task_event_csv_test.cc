#include <bit>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include "engine/source/line_source.h"
#include "queries/cm/task_event_csv.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/queries/event_lines.h"

namespace glaive::queries::cm {
namespace {

using engine::OnBadRecord;
using engine::Parsed;
using ::testing::HasSubstr;

// The kinds of rows that the trace has.
constexpr std::string_view kScheduled =
    "600025907,,6251812952,1761,2902878580,1,H9h1jEnt25gY0A+l+uJGnvtcUqNsOIEeRYYF2Vv26tk=,2,9,0.02499,0.07959,"
    "0.0003862,0";
constexpr std::string_view kBeforeTheTrace = "0,2,3418309,0,4155527081,0,70s3v5qRyCO=,3,9,,,,";

struct RowOutcome {
  Parsed parsed;
  TaskEvent event{};
  engine::ParseError error;
};

RowOutcome ParseRow(std::string_view line) {
  RowOutcome outcome;
  outcome.parsed = ParseTaskEvent{}(line, outcome.event, outcome.error);
  return outcome;
}

/// "COLUMN: reason" of a line that is bad.
std::string RowRefusal(std::string_view line) {
  const RowOutcome outcome = ParseRow(line);
  EXPECT_EQ(outcome.parsed, Parsed::kBad) << line;
  return absl::StrCat(outcome.error.column, ": ", outcome.error.reason);
}

std::int32_t HashOf(std::string_view user) { return std::bit_cast<std::int32_t>(XXH32(user.data(), user.size(), 0)); }

TEST(ParseTaskEvent, ReadsEveryFieldOfARow) {
  const RowOutcome outcome = ParseRow(kScheduled);
  ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.reason;
  EXPECT_EQ(outcome.event.timestamp_us, 600'025'907);
  EXPECT_EQ(outcome.event.job_id, 6'251'812'952);
  EXPECT_EQ(outcome.event.task_index, 1761);
  EXPECT_EQ(outcome.event.machine_id, 2'902'878'580) << "more than 32 bits";
  EXPECT_EQ(outcome.event.event_type, TaskEventType::kSchedule);
  EXPECT_EQ(outcome.event.user, HashOf("H9h1jEnt25gY0A+l+uJGnvtcUqNsOIEeRYYF2Vv26tk="));
  EXPECT_EQ(outcome.event.category, 2);
  EXPECT_EQ(outcome.event.priority, 9);
  EXPECT_EQ(outcome.event.cpu, 0.02499F);
  EXPECT_EQ(outcome.event.ram, 0.07959F);
  EXPECT_EQ(outcome.event.disk, 0.0003862F);
  EXPECT_EQ(outcome.event.constraint, 0);
  EXPECT_EQ(TaskEventTime{}(outcome.event), 600'025) << "milliseconds, rounded down";
}

TEST(ParseTaskEvent, AUserIsTheSameNumberEverywhere) {
  EXPECT_EQ(HashOf("70s3v5qRyCO="), ParseRow(kBeforeTheTrace).event.user);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(HashOf("a")), 0x550d7456U) << "XXH32's published value";
}

TEST(ParseTaskEvent, ARowFromBeforeTheTraceStaysAtTimeZeroAndItsEmptyFieldsAreZero) {
  const RowOutcome outcome = ParseRow(kBeforeTheTrace);
  ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.reason;
  EXPECT_EQ(TaskEventTime{}(outcome.event), 0);
  EXPECT_EQ(outcome.event.cpu, 0);
  EXPECT_EQ(outcome.event.ram, 0);
  EXPECT_EQ(outcome.event.disk, 0);
  EXPECT_EQ(outcome.event.constraint, 0);
}

TEST(ParseTaskEvent, EveryFieldThatTheTraceMayLeaveEmptyIsZero) {
  TaskEvent zero{};
  zero.timestamp_us = 5;
  zero.job_id = 6;
  zero.task_index = 7;
  zero.event_type = TaskEventType::kFail;
  zero.priority = 11;
  const RowOutcome outcome = ParseRow("5,,6,7,,3,,,11,,,,");
  ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.reason;
  EXPECT_EQ(outcome.event, zero);
}

TEST(ParseTaskEvent, EveryFieldThatTheTraceRequiresIsRequired) {
  EXPECT_EQ(RowRefusal(",,6,7,,3,,,11,,,,"),
            "1: time is empty; a whole number from 0 to 9223372036854775807 is expected");
  EXPECT_THAT(RowRefusal("5,,,7,,3,,,11,,,,"), HasSubstr("4: job ID is empty"));
  EXPECT_THAT(RowRefusal("5,,6,,,3,,,11,,,,"), HasSubstr("6: task index is empty"));
  EXPECT_THAT(RowRefusal("5,,6,7,,,,,11,,,,"), HasSubstr("9: event type is empty"));
  EXPECT_THAT(RowRefusal("5,,6,7,,3,,,,,,,"), HasSubstr("13: priority is empty"));
}

TEST(ParseTaskEvent, ATimeAfterTheTracesEndIsOutsideAndMovesNoWatermark) {
  EXPECT_EQ(ParseRow("9223372036854775807,,6,7,,3,,,11,,,,").parsed, Parsed::kOutside);
  EXPECT_EQ(ParseRow("9223372036854775806,,6,7,,3,,,11,,,,").parsed, Parsed::kRecord);
  EXPECT_THAT(RowRefusal("9223372036854775808,,6,7,,3,,,11,,,,"), HasSubstr("1: time is '9223372036854775808'"));
  EXPECT_THAT(RowRefusal("9223372036854775807,,6,7,,3,,,11,,,,2"), HasSubstr("different machines"))
      << "bad comes first";

  const engine::TemporaryFolder folder;
  const std::string row(kScheduled);
  const std::string path = engine::WriteText(folder.path() / "part",
                                             absl::StrCat(row, "\n9223372036854775807,,6,7,,3,,,11,,,,\n", row, "\n"));
  engine::LineSource<TaskEvent, ParseTaskEvent, TaskEventTime> source(engine::WholeFiles(engine::Listed({path})), {},
                                                                      {}, {.watermark_every = 1});
  engine::SourceBatch<TaskEvent> batch;
  std::size_t records = 0;
  do {
    batch = source.Poll();
    records += batch.records.size();
    EXPECT_EQ(batch.watermark_ms, 600'025);
  } while (!batch.ended);
  EXPECT_EQ(records, 2U);
  EXPECT_EQ(source.findings().outside_records, 1U);
  EXPECT_EQ(source.findings().bad_records, 0U);
}

TEST(ParseTaskEvent, ANumberIsRoundedOnceToTheNearestFloat) {
  const auto cpu = [](std::string_view number) {
    const RowOutcome outcome = ParseRow(absl::StrCat("5,,6,7,,3,,,11,", std::string(number), ",,,"));
    EXPECT_EQ(outcome.parsed, Parsed::kRecord) << number << ": " << outcome.error.reason;
    return outcome.event.cpu;
  };
  // A double would be in the middle between two floats, and be rounded to the wrong one.
  EXPECT_EQ(cpu("0.5000000298023224"), 0x1.000002p-1F);
  EXPECT_EQ(cpu("1.000000059604644775390625000000001"), 0x1.000002p0F);
  EXPECT_EQ(cpu("1.000000059604644775390625"), 1.0F) << "in the middle, and the other one is even";
  EXPECT_EQ(cpu("1e-400"), 0.0F);
  EXPECT_EQ(cpu("7.006492321624085e-46"), 0.0F) << "below half of the least float";
  EXPECT_EQ(cpu("7.1e-46"), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(cpu("1.17549428e-38"), 0x1.fffffcp-127F) << "the greatest below the normal ones";
  EXPECT_EQ(cpu("3.4028235677973362e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(cpu(absl::StrCat("1", std::string(200, '0'), "e-200")), 1.0F);
}

TEST(ParseTaskEvent, ANumberBeyondTheGreatestFloatIsRefusedAsTooLarge) {
  for (const char* number : {"3.4028235677973367e38", "1e39", "1e300", "1e99999"}) {
    EXPECT_THAT(RowRefusal(absl::StrCat("5,,6,7,,3,,,11,", number, ",,,")),
                HasSubstr(absl::StrCat("16: CPU request is '", number, "'; a number of at most 3.40282e+38")));
  }
}

TEST(ParseTaskEvent, AFieldOfTheWrongTypeIsNamedWithItsColumn) {
  const auto replace = [](const char* old, const char* with) {
    return absl::StrReplaceAll(std::string(kScheduled), {{old, with}});
  };
  const std::size_t cpu = kScheduled.find("0.02499") + 1;
  EXPECT_EQ(RowRefusal(replace("0.02499", "much")),
            absl::StrCat(cpu, ": CPU request is 'much'; a number that is not negative is expected"));
  EXPECT_THAT(RowRefusal(replace("0.07959", "nan")), HasSubstr(absl::StrCat(cpu + 8, ": memory request is 'nan'")));
  EXPECT_THAT(RowRefusal(replace("0.07959", "inf")), HasSubstr("memory request is 'inf'"));
  EXPECT_THAT(RowRefusal(replace("0.07959", "0x1")), HasSubstr("memory request is '0x1'"));
  EXPECT_THAT(RowRefusal(replace("0.07959", "-1")), HasSubstr("memory request is '-1'"));
  EXPECT_THAT(RowRefusal(replace("0.07959", "-1e300")), HasSubstr("'-1e300'; a number that is not negative"));
  for (const char* zero : {"-0", "-1e-400", "-0.0", "0x0p3"}) {
    EXPECT_THAT(RowRefusal(replace("0.07959", zero)), HasSubstr(absl::StrCat("memory request is '", zero, "'")));
  }
  EXPECT_THAT(RowRefusal(replace("1761", "-0")), HasSubstr("task index is '-0'"));
  EXPECT_THAT(RowRefusal(replace("600025907", "600025907.5")), HasSubstr("1: time is '600025907.5'"));
  EXPECT_THAT(RowRefusal(replace("600025907", "-1")), HasSubstr("1: time is '-1'"));
  EXPECT_THAT(RowRefusal(replace("600025907", " 1")), HasSubstr("1: time is ' 1'"));
  EXPECT_THAT(RowRefusal(replace(",1,", ",9,")), HasSubstr("39: event type is '9'; a whole number from 0 to 8"));
  EXPECT_THAT(RowRefusal(replace("0.0003862,0", "0.0003862,2")), HasSubstr("different machines restriction is '2'"));
  EXPECT_THAT(RowRefusal(replace("907,,", "907,x,")), HasSubstr("11: missing info is 'x'"));
  EXPECT_THAT(RowRefusal(replace("1761", std::string(100, '\x01').c_str())), HasSubstr("'" +
                                                                                       [] {
                                                                                         std::string escaped;
                                                                                         for (int i = 0; i < 40; ++i) {
                                                                                           escaped += "\\x01";
                                                                                         }
                                                                                         return escaped;
                                                                                       }() +
                                                                                       "'"))
      << "cut and made printable";
}

TEST(ParseTaskEvent, ALineThatIsCutOffAnywhereIsRefusedUntilItsLastField) {
  for (std::size_t size = 0; size + 1 < kScheduled.size(); ++size) {
    EXPECT_EQ(ParseRow(kScheduled.substr(0, size)).parsed, Parsed::kBad) << kScheduled.substr(0, size);
  }
  EXPECT_EQ(RowRefusal("600025907,,6251812952,17"),
            "25: the line ends before its field 5 of 13 (machine ID); is it cut off?");
  EXPECT_THAT(RowRefusal(""), HasSubstr("1: time is empty"));
}

TEST(ParseTaskEvent, ALineThatGoesOnIsRefused) {
  EXPECT_EQ(RowRefusal("5,,6,7,,3,,,11,,,,,"), "20: the line goes on behind its 13 fields");
  EXPECT_EQ(RowRefusal("5,,6,7,,3,,,11,,,,0,1"), "21: the line goes on behind its 13 fields");
}

TEST(ParseTaskEvent, ReadsBackWhatIsWritten) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::string user = absl::StrCat("user", random());
    const auto share = [&] { return static_cast<float>(random() % 100'000) / 100'000; };
    const TaskEvent event{.timestamp_us = static_cast<std::int64_t>(random() >> 2),
                          .job_id = static_cast<std::int64_t>(random() >> 1),
                          .task_index = static_cast<std::int64_t>(random() % 1000),
                          .machine_id = static_cast<std::int64_t>(random() >> 1),
                          .event_type = static_cast<TaskEventType>(random() % kTaskEventTypes),
                          .user = HashOf(user),
                          .category = static_cast<std::int32_t>(random() % 4),
                          .priority = static_cast<std::int32_t>(random() % 12),
                          .cpu = share(),
                          .ram = share(),
                          .disk = share(),
                          .constraint = static_cast<std::int32_t>(random() % 2)};
    const RowOutcome outcome = ParseRow(CsvLine(event, user));
    ASSERT_EQ(outcome.parsed, Parsed::kRecord) << outcome.error.reason;
    EXPECT_EQ(outcome.event, event) << CsvLine(event, user);
  }
}

TEST(ParseTaskEvent, RandomDamageIsRefusedOrReadAndNeverCrashes) {
  ExpectDamageIsRefusedOrRead(kScheduled, [](const std::string& line) { return ParseRow(line); });
}

}  // namespace
}  // namespace glaive::queries::cm
