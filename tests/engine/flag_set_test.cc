#include "engine/flags/flag_set.h"

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Color { kRed, kBlue };

// A program with one flag of every type.
struct Program {
  Program() {
    flags.AddInteger({.name = "keys", .group = "First", .help = "distinct keys"}, keys, {.min = 1});
    flags.AddInteger({.name = "credits", .group = "First", .help = "slots"}, credits, {.min = 2, .max = 1024});
    flags.AddInteger({.name = "rank", .group = "First", .help = "number", .scope = FlagScope::kPerRank}, rank);
    flags.AddSize({.name = "slot-bytes", .group = "Second", .help = "slot"}, slot_bytes, {.min = 256, .max = 1 << 24});
    flags.AddDuration({.name = "epoch-interval", .group = "Second", .help = "time"}, interval,
                      {.min = absl::Microseconds(1), .max = absl::Hours(1)});
    flags.AddDuration({.name = "deadline", .group = "Second", .help = "end"}, deadline, {.max = absl::Hours(2)});
    flags.AddDouble({.name = "share", .group = "Second", .help = "share"}, share, {.min = 0, .max = 1});
    flags.AddSwitch({.name = "verify", .group = "Second", .help = "check"}, verify);
    flags.AddString({.name = "output", .group = "Second", .help = "results", .scope = FlagScope::kPerRank}, output,
                    "FILE");
    flags.AddChoice<Color>({.name = "color", .group = "First", .help = "paint"}, color,
                           {{"red", Color::kRed}, {"blue", Color::kBlue}});
  }

  std::optional<int> Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "prog");
    out.str("");
    err.str("");
    return flags.Parse(static_cast<int>(arguments.size()), arguments.data(), out, err);
  }

  // The line that a wrong command line is answered with.
  std::string Complaint(std::vector<const char*> arguments) {
    EXPECT_EQ(Run(std::move(arguments)), 2);
    EXPECT_EQ(out.str(), "");
    const std::string line = err.str();
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_THAT(line, HasSubstr("prog --help"));
    return line;
  }

  std::uint64_t keys = 10'000'000;
  std::uint32_t credits = 8;
  std::optional<std::uint32_t> rank;
  std::uint32_t slot_bytes = 65536;
  absl::Duration interval = absl::Milliseconds(10);
  std::optional<absl::Duration> deadline;
  double share = 0.5;
  bool verify = false;
  std::string output;
  Color color = Color::kRed;
  FlagSet flags{{.program = "prog", .summary = "A program.", .version = "1.2", .commit = "abc"}};
  std::ostringstream out;
  std::ostringstream err;
};

TEST(FlagSet, WithoutArgumentsAllDefaultsStay) {
  Program program;
  EXPECT_EQ(program.Run({}), std::nullopt);
  EXPECT_EQ(program.keys, 10'000'000U);
  EXPECT_EQ(program.rank, std::nullopt);
  EXPECT_EQ(program.err.str(), "");
}

TEST(FlagSet, ReadsEveryType) {
  Program program;
  EXPECT_EQ(program.Run({"--keys=3", "--credits=16", "--rank=2", "--slot-bytes=32KiB", "--epoch-interval=1.5s",
                         "--share=0.25", "--verify", "--output=a b.csv", "--color=blue"}),
            std::nullopt)
      << program.err.str();
  EXPECT_EQ(program.keys, 3U);
  EXPECT_EQ(program.credits, 16U);
  EXPECT_EQ(program.rank, 2U);
  EXPECT_EQ(program.slot_bytes, 32768U);
  EXPECT_EQ(program.interval, absl::Milliseconds(1500));
  EXPECT_EQ(program.share, 0.25);
  EXPECT_TRUE(program.verify);
  EXPECT_EQ(program.output, "a b.csv");
  EXPECT_EQ(program.color, Color::kBlue);
}

TEST(FlagSet, TakesValuesFromTheNextArgumentToo) {
  Program program;
  EXPECT_EQ(program.Run({"--keys", "7", "--output", "--odd_name", "--verify", "--slot-bytes", "1KiB"}), std::nullopt)
      << program.err.str();
  EXPECT_EQ(program.keys, 7U);
  EXPECT_EQ(program.output, "--odd_name");
  EXPECT_TRUE(program.verify);
  EXPECT_EQ(program.slot_bytes, 1024U);
}

TEST(FlagSet, TakesTextAsItIs) {
  for (const char* text : {"-h", "--help", "[a,b]", "\"quoted\"", "a=b", " ", "-1", "x;y"}) {
    Program program;
    EXPECT_EQ(program.Run({"--output", text}), std::nullopt) << program.err.str();
    EXPECT_EQ(program.output, text);
    Program other;
    EXPECT_EQ(other.Run({(std::string("--output=") + text).c_str()}), std::nullopt) << other.err.str();
    EXPECT_EQ(other.output, text);
  }
}

TEST(FlagSet, UnderscoresInNamesAreHyphensButNotInValues) {
  Program program;
  EXPECT_EQ(program.Run({"--slot_bytes=512", "--epoch_interval", "1ms", "--output=a_b"}), std::nullopt);
  EXPECT_EQ(program.slot_bytes, 512U);
  EXPECT_EQ(program.interval, absl::Milliseconds(1));
  EXPECT_EQ(program.output, "a_b");
}

TEST(FlagSet, TheLastOfSeveralValuesCounts) {
  Program program;
  EXPECT_EQ(program.Run({"--keys=1", "--verify", "--keys=2", "--no-verify"}), std::nullopt) << program.err.str();
  EXPECT_EQ(program.keys, 2U);
  EXPECT_FALSE(program.verify);
}

TEST(FlagSet, SwitchesTakeWordsAndANegativeForm) {
  for (const char* on : {"--verify", "--verify=true", "--verify=yes", "--verify=on", "--verify=1"}) {
    Program program;
    EXPECT_EQ(program.Run({on}), std::nullopt) << program.err.str();
    EXPECT_TRUE(program.verify) << on;
  }
  for (const char* off :
       {"--no-verify", "--no_verify", "--verify=false", "--verify=no", "--verify=off", "--verify=0"}) {
    Program program;
    program.verify = true;
    EXPECT_EQ(program.Run({off}), std::nullopt) << program.err.str();
    EXPECT_FALSE(program.verify) << off;
  }
  Program program;
  EXPECT_THAT(program.Complaint({"--verify={}"}), HasSubstr("--verify={}: neither true nor false"));
  for (const char* contrary : {"--no-verify=false", "--no_verify=true", "--no-verify=t", "--no-verify={}"}) {
    EXPECT_THAT(program.Complaint({contrary}),
                HasSubstr("--no-verify takes no value; write --verify=true or --no-ver"));
  }
  EXPECT_THAT(program.Complaint({"--verify=maybe"}), HasSubstr("--verify=maybe: neither true nor false"));
}

TEST(FlagSet, IntegersMayEndInAUnit) {
  Program program;
  EXPECT_EQ(program.Run({"--keys=25k"}), std::nullopt);
  EXPECT_EQ(program.keys, 25'000U);
  EXPECT_EQ(program.Run({"--keys=10M"}), std::nullopt);
  EXPECT_EQ(program.keys, 10'000'000U);
  EXPECT_EQ(program.Run({"--keys=18446744073709551615"}), std::nullopt);
  EXPECT_EQ(program.keys, 18446744073709551615U);
}

TEST(FlagSet, ATimeWithoutADefaultIsAbsentUnlessGiven) {
  Program program;
  EXPECT_EQ(program.Run({}), std::nullopt);
  EXPECT_EQ(program.deadline, std::nullopt);
  EXPECT_FALSE(program.flags.Settings().contains("deadline"));
  EXPECT_EQ(program.Run({"--deadline=0"}), std::nullopt) << program.err.str();
  EXPECT_EQ(program.deadline, absl::ZeroDuration());
  EXPECT_EQ(program.flags.Settings().at("deadline"), "0");
  EXPECT_EQ(program.Run({"--deadline=1500ms"}), std::nullopt) << program.err.str();
  EXPECT_EQ(program.deadline, absl::Milliseconds(1500));
  EXPECT_EQ(program.flags.Settings().at("deadline"), "1.5s");
  EXPECT_THAT(program.Complaint({"--deadline=3h"}), HasSubstr("--deadline=3h: out of range; it must be 0 to 2h"));
  EXPECT_THAT(program.Complaint({"--deadline=soon"}), HasSubstr("--deadline=soon: not a time"));
  EXPECT_EQ(program.deadline, absl::Milliseconds(1500)) << "what is refused changes nothing";
}

TEST(FlagSet, ABadValueIsQuotedWithWhatToWriteInstead) {
  Program program;
  EXPECT_EQ(program.Complaint({"--slot-bytes=abc"}),
            "prog: --slot-bytes=abc: not a size; write e.g. 64KiB (prog --help lists all flags)\n");
  EXPECT_THAT(program.Complaint({"--keys=-1"}),
              HasSubstr("--keys=-1: out of range; it must be 1 to 18446744073709551615"));
  EXPECT_THAT(program.Complaint({"--keys", "-1"}), HasSubstr("--keys=-1: out of range"));
  EXPECT_THAT(program.Complaint({"--keys=--1"}), HasSubstr("not a whole number"));
  EXPECT_THAT(program.Complaint({"--keys=-"}), HasSubstr("not a whole number"));
  EXPECT_THAT(program.Complaint({"--keys=-k"}), HasSubstr("not a whole number"));
  EXPECT_THAT(program.Complaint({"--keys=1.5"}), HasSubstr("not a whole number"));
  EXPECT_THAT(program.Complaint({"--keys=99999999999999999999"}), HasSubstr("out of range"));
  EXPECT_THAT(program.Complaint({"--keys=99999999999999G"}), HasSubstr("out of range"));
  EXPECT_THAT(program.Complaint({"--slot-bytes=-1"}),
              HasSubstr("--slot-bytes=-1: out of range; it must be 256 to 16MiB"));
  EXPECT_THAT(program.Complaint({"--slot-bytes=99999999TiB"}), HasSubstr("it must be 256 to 16MiB"));
  EXPECT_THAT(program.Complaint({"--slot-bytes=-"}), HasSubstr("not a size"));
  EXPECT_THAT(program.Complaint({"--share=1e999"}), HasSubstr("out of range; it must be 0 to 1"));
  EXPECT_THAT(program.Complaint({"--share=nan"}), HasSubstr("not a number"));
  EXPECT_THAT(program.Complaint({"--keys=M"}), HasSubstr("not a whole number"));
  EXPECT_THAT(program.Complaint({"--epoch-interval=10"}), HasSubstr("not a time; write e.g. 10ms"));
  EXPECT_THAT(program.Complaint({"--epoch-interval=inf"}), HasSubstr("out of range; it must be 1us to 1h"));
  EXPECT_THAT(program.Complaint({"--share=lots"}), HasSubstr("not a number"));
  EXPECT_THAT(program.Complaint({"--share=nan"}), HasSubstr("not a number"));
  EXPECT_THAT(program.Complaint({"--color=green"}), HasSubstr("write one of red, blue"));
}

TEST(FlagSet, AComplaintIsOneLineWhateverTheValueHas) {
  Program program;
  EXPECT_EQ(program.Complaint({"--keys=1\n2"}),
            "prog: --keys=1\\x0a2: not a whole number; write e.g. 1000, or 10M for "
            "ten million (prog --help lists all flags)\n");
  EXPECT_THAT(program.Complaint({"a\nb"}), HasSubstr("'a\\x0ab' is no flag"));
  EXPECT_THAT(program.Complaint({"--\x1b[2J=1"}), HasSubstr("--\\x1b[2J: unknown flag"));
  EXPECT_THAT(program.Complaint({"--color=gr\xc3\xbcn"}), HasSubstr("--color=gr\xc3\xbcn: not known"));
}

TEST(FlagSet, ValuesOutOfRangeNameTheRange) {
  Program program;
  EXPECT_THAT(program.Complaint({"--keys=0"}), HasSubstr("out of range; it must be 1 to 18446744073709551615"));
  EXPECT_THAT(program.Complaint({"--credits=1"}), HasSubstr("it must be 2 to 1024"));
  EXPECT_THAT(program.Complaint({"--slot-bytes=0"}), HasSubstr("it must be 256 to 16MiB"));
  EXPECT_THAT(program.Complaint({"--slot-bytes=1TiB"}), HasSubstr("it must be 256 to 16MiB"));
  EXPECT_THAT(program.Complaint({"--epoch-interval=-1s"}), HasSubstr("it must be 1us to 1h"));
  EXPECT_THAT(program.Complaint({"--share=1.5"}), HasSubstr("it must be 0 to 1"));
  EXPECT_THAT(program.Complaint({"--rank=4294967296"}), HasSubstr("it must be 0 to 4294967295"));
}

TEST(FlagSet, AMissingValueIsNamed) {
  Program program;
  EXPECT_THAT(program.Complaint({"--keys"}), HasSubstr("--keys: the value is missing"));
  EXPECT_THAT(program.Complaint({"--keys="}), HasSubstr("--keys=: the value is missing"));
  EXPECT_THAT(program.Complaint({"--verify="}), HasSubstr("--verify=: the value is missing"));
}

TEST(FlagSet, AnEmptyValueIsRefusedWhateverTheFlagsType) {
  for (const std::string name : {"keys", "rank", "slot-bytes", "epoch-interval", "share", "output", "color"}) {
    Program program;
    const std::string complaint = "--" + name + "=: the value is missing; write one (is a variable not set?)";
    EXPECT_THAT(program.Complaint({("--" + name + "=").c_str()}), HasSubstr(complaint));
    EXPECT_THAT(program.Complaint({("--" + name).c_str(), ""}), HasSubstr(complaint));
    EXPECT_THAT(program.Complaint({("--" + name + "=").c_str(), "--verify"}), HasSubstr(complaint));
  }
}

TEST(FlagSet, AnUnknownFlagIsNamedWithTheNearestOne) {
  Program program;
  EXPECT_THAT(program.Complaint({"--slotbytes=64KiB"}),
              HasSubstr("--slotbytes: unknown flag; did you mean --slot-bytes?"));
  EXPECT_THAT(program.Complaint({"--something-else"}),
              AllOf(HasSubstr("--something-else: unknown flag"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(program.Complaint({"-x"}), HasSubstr("-x: unknown flag"));
  EXPECT_THAT(program.Complaint({"file.csv"}), HasSubstr("'file.csv' is no flag"));
  EXPECT_THAT(program.Complaint({"--", "file.csv"}), HasSubstr("is no flag"));
}

// A line of the help with its text in the second column.
std::string HelpRow(std::string left, const std::string& text) {
  left.resize(30, ' ');
  return left + text;
}

TEST(FlagSet, HelpListsEveryFlagByGroupWithUnitAndDefault) {
  Program program;
  EXPECT_EQ(program.Run({"--help"}), 0);
  const std::string help = program.out.str();
  EXPECT_THAT(help, AllOf(HasSubstr("A program."), HasSubstr("\nFirst:\n"), HasSubstr("\nSecond:\n")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--keys=N", "distinct keys [default: 10000000]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--slot-bytes=SIZE", "slot [default: 64KiB]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--epoch-interval=TIME", "time [default: 10ms]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--deadline=TIME", "end [default: none]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--verify", "check [default: false]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--output=FILE", "results [default: none]")));
  EXPECT_THAT(help, HasSubstr(HelpRow("--color=red|blue", "paint [default: red]")));
  EXPECT_LT(help.find("--color"), help.find("--slot-bytes"));
  EXPECT_EQ(program.err.str(), "");
}

TEST(FlagSet, HelpComesBeforeEverythingElse) {
  for (const char* wrong : {"--keys=abc", "--unknown", "file", "--keys"}) {
    Program program;
    EXPECT_EQ(program.Run({"--help", wrong}), 0) << wrong;
    EXPECT_THAT(program.out.str(), HasSubstr("Usage: prog")) << wrong;
  }
  Program program;
  EXPECT_EQ(program.Run({"-h"}), 0);
}

TEST(FlagSet, VersionNamesTheCommit) {
  Program program;
  EXPECT_EQ(program.Run({"--version"}), 0);
  EXPECT_EQ(program.out.str(), "prog 1.2 (commit abc)\n");
}

TEST(FlagSet, SettingsAreTheSharedFlagsInOneCanonicalForm) {
  Program program;
  EXPECT_EQ(program.Run({"--slot-bytes=131072", "--epoch-interval=0.02s", "--share=1e-1", "--rank=3", "--keys=2k"}),
            std::nullopt)
      << program.err.str();
  EXPECT_EQ(program.flags.Settings(), (std::map<std::string, std::string>{{"keys", "2000"},
                                                                          {"credits", "8"},
                                                                          {"slot-bytes", "128KiB"},
                                                                          {"epoch-interval", "20ms"},
                                                                          {"share", "0.1"},
                                                                          {"verify", "false"},
                                                                          {"color", "red"}}));
  const auto all = program.flags.AllSettings();
  EXPECT_EQ(all.at("rank"), "3");
  EXPECT_EQ(all.at("output"), "");
}

TEST(FlagSet, ValuesThatDifferHaveSettingsThatDiffer) {
  Program one;
  Program other;
  EXPECT_EQ(one.Run({"--slot-bytes=65537", "--share=0.30000000000000004"}), std::nullopt);
  EXPECT_EQ(other.Run({"--slot-bytes=65538", "--share=0.3"}), std::nullopt);
  EXPECT_NE(one.flags.Settings().at("slot-bytes"), other.flags.Settings().at("slot-bytes"));
  EXPECT_NE(one.flags.Settings().at("share"), other.flags.Settings().at("share"));
}

TEST(FlagSet, KnowsWhatWasGiven) {
  Program program;
  EXPECT_EQ(program.Run({"--keys=10000000"}), std::nullopt);
  EXPECT_TRUE(program.flags.WasGiven("keys"));
  EXPECT_FALSE(program.flags.WasGiven("credits"));
}

TEST(FlagSet, ChecksOverSeveralFlagsAreAnsweredLikeBadValues) {
  Program program;
  program.flags.AddCheck([&program] {
    return program.keys < program.credits ? absl::InvalidArgumentError("--keys must not be less than --credits")
                                          : absl::OkStatus();
  });
  EXPECT_EQ(program.Run({"--keys=100"}), std::nullopt);
  EXPECT_THAT(program.Complaint({"--keys=1"}), HasSubstr("prog: --keys must not be less than --credits"));
}

TEST(FlagSetDeath, AFlagIsRegisteredOnce) {
  Program program;
  std::uint64_t other = 0;
  EXPECT_DEATH(program.flags.AddInteger({.name = "keys", .group = "First", .help = "again"}, other),
               "--keys is registered twice");
}

TEST(ExactBytes, IsShortAndExact) {
  EXPECT_EQ(ExactBytes(0), "0");
  EXPECT_EQ(ExactBytes(1023), "1023");
  EXPECT_EQ(ExactBytes(1024), "1KiB");
  EXPECT_EQ(ExactBytes(1536), "1536");
  EXPECT_EQ(ExactBytes(65536), "64KiB");
  EXPECT_EQ(ExactBytes(std::uint64_t{5} << 40), "5TiB");
  EXPECT_EQ(ExactBytes(std::uint64_t{2048} << 40), "2048TiB");
}

}  // namespace
}  // namespace glaive::engine
