#include "queries/common/input_flags.h"

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::queries {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kWindowMs = 60'000;

// A program with the flags of the input and one of a window.
struct Program {
  Program() {
    RegisterInputFlags(flags, values);
    AddWindowFlag(flags, {.name = "window", .group = "Query", .help = "length of a window"}, window);
    AddWindowFlag(flags, {.name = "slide", .group = "Query", .help = "0: none"}, slide, absl::ZeroDuration());
  }

  std::optional<int> Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "prog");
    return flags.Parse(static_cast<int>(arguments.size()), arguments.data(), out, err);
  }

  InputFlags values;
  absl::Duration window = absl::Minutes(1);
  absl::Duration slide = absl::ZeroDuration();
  engine::FlagSet flags{{.program = "prog", .summary = "A program.", .version = "1", .commit = "abc"}};
  std::ostringstream out;
  std::ostringstream err;
};

std::string Complaint(std::vector<const char*> arguments) {
  Program program;
  EXPECT_EQ(program.Run(std::move(arguments)), 2);
  return program.err.str();
}

InputFlags Parsed(std::vector<const char*> arguments) {
  Program program;
  EXPECT_EQ(program.Run(std::move(arguments)), std::nullopt) << program.err.str();
  return program.values;
}

TEST(InputFlagsTest, EveryFlagReachesItsValue) {
  const InputFlags values = Parsed(
      {"--records=2k", "--seconds=3s", "--seed=4", "--keys=5", "--key-distribution=zipf:0.5", "--hot-key-share=0.25",
       "--event-rate=6", "--rate=7.5", "--disorder=250ms", "--allowed-lateness=80ms", "--watermark-every=9"});
  EXPECT_EQ(values.records, 2'000U);
  EXPECT_EQ(values.seconds, absl::Seconds(3));
  EXPECT_EQ(values.seed, 4U);
  EXPECT_EQ(values.keys, 5U);
  EXPECT_EQ(values.key_distribution, "zipf:0.5");
  EXPECT_EQ(values.hot_key_share, 0.25);
  EXPECT_EQ(values.event_rate, 6U);
  EXPECT_EQ(values.rate, 7.5);
  EXPECT_EQ(values.disorder, absl::Milliseconds(250));
  EXPECT_EQ(values.allowed_lateness_ms(), 80);
  EXPECT_EQ(values.watermark_every, 9U);
  EXPECT_EQ(Parsed({"--export-input=a.csv"}).export_input, "a.csv");
}

TEST(InputFlagsTest, WhatAProgramPresetsIsTheDefault) {
  InputFlags values{.keys = 77, .key_distribution = "pareto:1.16"};
  engine::FlagSet flags({.program = "prog", .summary = "A program.", .version = "1", .commit = "abc"});
  RegisterInputFlags(flags, values);
  EXPECT_EQ(flags.Settings().at("keys"), "77");
  EXPECT_EQ(flags.Settings().at("key-distribution"), "pareto:1.16");
}

TEST(InputFlagsTest, WrongValuesAreRefusedByName) {
  EXPECT_THAT(Complaint({"--records=0"}), HasSubstr("--records=0: out of range"));
  EXPECT_THAT(Complaint({"--seconds=-1s"}), HasSubstr("--seconds=-1s: out of range"));
  EXPECT_THAT(Complaint({"--keys=0"}), HasSubstr("--keys=0: out of range"));
  EXPECT_THAT(Complaint({"--keys=300000G"}), HasSubstr("--keys=300000G: out of range"));
  EXPECT_THAT(Complaint({"--key-distribution=zipf"}),
              AllOf(HasSubstr("--key-distribution: 'zipf' is no distribution of keys"), HasSubstr("pareto:A")));
  EXPECT_THAT(Complaint({"--key-distribution="}), HasSubstr("--key-distribution=: the value is missing"));
  EXPECT_THAT(Complaint({"--hot-key-share=1.5"}), HasSubstr("--hot-key-share=1.5: out of range"));
  EXPECT_THAT(Complaint({"--event-rate=fast"}), HasSubstr("--event-rate=fast: not a whole number"));
  EXPECT_THAT(Complaint({"--rate=-1"}), HasSubstr("--rate=-1: out of range"));
  EXPECT_THAT(Complaint({"--rate=0.001"}), HasSubstr("--rate=0.001 offers a record every 1000 s; it must be 0"));
  EXPECT_THAT(Complaint({"--disorder=-1ms"}), HasSubstr("--disorder=-1ms: out of range"));
  EXPECT_THAT(Complaint({"--disorder=10"}), HasSubstr("--disorder=10: not a time"));
  EXPECT_THAT(Complaint({"--allowed-lateness=-5s"}), HasSubstr("--allowed-lateness=-5s: out of range"));
  EXPECT_THAT(Complaint({"--watermark-every=0"}), HasSubstr("--watermark-every=0: out of range"));
}

TEST(InputFlagsTest, TimesThatAreNoWholeMillisecondsAreRefusedByName) {
  EXPECT_THAT(Complaint({"--disorder=1500us"}), HasSubstr("--disorder and --allowed-lateness must be whole millisec"));
  EXPECT_THAT(Complaint({"--allowed-lateness=1ns"}), HasSubstr("--allowed-lateness must be whole milliseconds"));
  EXPECT_THAT(Complaint({"--window=1500us"}), HasSubstr("--window must be whole milliseconds, e.g. 10s or 250ms"));
  EXPECT_THAT(Complaint({"--slide=999us"}), HasSubstr("--slide must be whole milliseconds"));
}

TEST(InputFlagsTest, AWindowIsAtLeastAMillisecondOrWhatTheQuerySays) {
  EXPECT_THAT(Complaint({"--window=0"}), HasSubstr("--window=0: out of range; it must be 1ms to"));
  EXPECT_THAT(Complaint({"--window=999us"}), HasSubstr("--window=999us: out of range"));
  Program program;
  EXPECT_EQ(program.Run({"--window=1ms", "--slide=0"}), std::nullopt) << program.err.str();
  EXPECT_EQ(program.window, absl::Milliseconds(1));
  EXPECT_EQ(program.slide, absl::ZeroDuration());
}

TEST(InputFlagsTest, AnInputWithoutAnEndIsNotExported) {
  EXPECT_THAT(Complaint({"--export-input=a.csv", "--seconds=1s"}), HasSubstr("--export-input does not go with --sec"));
}

TEST(InputFlagsTest, TheAllowedLatenessIsTheDisorderUnlessGiven) {
  EXPECT_EQ(Parsed({}).allowed_lateness_ms(), 0);
  EXPECT_EQ(Parsed({"--disorder=2s"}).allowed_lateness_ms(), 2'000);
  EXPECT_EQ(Parsed({"--disorder=2s", "--allowed-lateness=0"}).allowed_lateness_ms(), 0);
  EXPECT_EQ(Parsed({"--allowed-lateness=1m"}).allowed_lateness_ms(), 60'000);
}

TEST(MakeInputTest, SaysWhatTheFlagsSay) {
  const InputOptions input = MakeInput(
      Parsed({"--seed=4", "--keys=5", "--key-distribution=zipf:0.5", "--hot-key-share=0.25", "--disorder=250ms"}),
      kWindowMs);
  EXPECT_TRUE(Validate(input).ok());
  EXPECT_EQ(input.seed, 4U);
  EXPECT_EQ(input.keys.count, 5U);
  EXPECT_EQ(input.keys.law.kind, KeyLaw::Kind::kZipf);
  EXPECT_EQ(input.keys.law.parameter, 0.5);
  EXPECT_EQ(input.keys.hot_share, 0.25);
  EXPECT_EQ(input.timeline.disorder_ms, 250);
  EXPECT_EQ(Timeline(input.timeline).start_time_ms() % kWindowMs, 0);
}

TEST(MakeInputTest, RecordsSpanTenWindowsUnlessThereIsAnEventRate) {
  const Timeline ten(MakeInput(Parsed({"--records=777"}), kWindowMs).timeline);
  EXPECT_EQ(ten.InOrderMs(777) - ten.start_time_ms(), 10 * kWindowMs);
  const Timeline rated(MakeInput(Parsed({"--records=777", "--event-rate=500"}), kWindowMs).timeline);
  EXPECT_EQ(rated.InOrderMs(777) - rated.start_time_ms(), 1'554);
}

TEST(MakeBlockTest, IsReadOnceOrForSomeTime) {
  const engine::BlockSourceOptions once = MakeBlock(Parsed({"--records=777", "--rate=10"}), kWindowMs);
  EXPECT_EQ(once.block_records, 777U);
  EXPECT_EQ(once.total_records, 777U);
  EXPECT_EQ(once.duration_ns, engine::BlockSourceOptions{}.duration_ns);
  EXPECT_EQ(once.records_per_second, 10);
  const engine::BlockSourceOptions repeated = MakeBlock(Parsed({"--records=777", "--seconds=2s"}), kWindowMs);
  EXPECT_EQ(repeated.block_records, 777U);
  EXPECT_EQ(repeated.total_records, engine::BlockSourceOptions{}.total_records);
  EXPECT_EQ(repeated.duration_ns, 2'000'000'000);
}

TEST(MakeBlockTest, WatermarksWaitForMultiplesOnlyWhenThereIsDisorder) {
  EXPECT_EQ(MakeBlock(Parsed({"--watermark-every=9"}), kWindowMs).watermark_every, 0U);
  EXPECT_EQ(MakeBlock(Parsed({"--watermark-every=9", "--disorder=1ms"}), kWindowMs).watermark_every, 9U);
  EXPECT_EQ(MakeBlock(Parsed({"--disorder=1ms"}), kWindowMs).watermark_every, 1'024U);
}

TEST(MakeBlockTest, ARepetitionMovesOnByTheFewestWholeWindowsThatHoldTheBlock) {
  const auto windows = [](std::vector<const char*> arguments) {
    const std::int64_t span_ms = MakeBlock(Parsed(std::move(arguments)), kWindowMs).span_ms;
    EXPECT_EQ(span_ms % kWindowMs, 0);
    return span_ms / kWindowMs;
  };
  EXPECT_EQ(windows({"--records=777"}), 10);
  EXPECT_EQ(windows({"--records=1"}), 10);
  EXPECT_EQ(windows({"--records=60000", "--event-rate=1000"}), 1);
  EXPECT_EQ(windows({"--records=60001", "--event-rate=1000"}), 2);
  EXPECT_EQ(windows({"--records=1", "--event-rate=1000"}), 1);
  EXPECT_EQ(windows({"--records=1", "--event-rate=1000000"}), 1);
  EXPECT_EQ(windows({"--records=61", "--event-rate=1"}), 2);
}

TEST(MakeBlockTest, EventTimeNeverGoesBackFromOneRepetitionToTheNext) {
  for (const char* rate :
       {"--event-rate=0", "--event-rate=1", "--event-rate=3", "--event-rate=999", "--event-rate=7k"}) {
    for (const char* records : {"--records=1", "--records=5", "--records=999", "--records=7000"}) {
      for (const std::int64_t window_ms : {1, 7, 1'000}) {
        const InputFlags flags = Parsed({rate, records});
        const Timeline timeline(MakeInput(flags, window_ms).timeline);
        EXPECT_GE(timeline.start_time_ms() + MakeBlock(flags, window_ms).span_ms, timeline.InOrderMs(flags.records - 1))
            << rate << " " << records << ", windows of " << window_ms << " ms";
      }
    }
  }
}

}  // namespace
}  // namespace glaive::queries
