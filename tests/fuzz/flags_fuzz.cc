// Feeds command lines to a program with a flag of every kind, and compares what it makes of them with a slow reader
// that shares no code with it: values, absent ones, refusals. The program refuses a wrong line with one line. It writes
// accepted flags back, and they mean the same when given again.
//
// The second kind of command line is for the flags that all queries have (the engine's and the input's), whose checks
// look at several flags together.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/flags/engine_flags.h"
#include "engine/flags/flag_set.h"
#include "queries/common/input_flags.h"
#include "tests/fuzz/flags/flag_reader.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/spelling.h"

namespace glaive::engine {
namespace {

using Arguments = std::vector<std::string>;

enum class Color : std::uint8_t { kRed, kBlue };

struct Program {
  Program() {
    flags.AddInteger({.name = "keys", .group = "g", .help = "h"}, keys, {.min = 1});
    flags.AddInteger({.name = "credits", .group = "g", .help = "h"}, credits, {.min = 2, .max = 1024});
    flags.AddInteger({.name = "rank", .group = "g", .help = "h"}, rank);
    flags.AddSize({.name = "slot-bytes", .group = "g", .help = "h"}, slot_bytes, {.min = 256, .max = 1 << 24});
    flags.AddSize({.name = "any-bytes", .group = "g", .help = "h"}, any_bytes);
    flags.AddDuration({.name = "interval", .group = "g", .help = "h"}, interval,
                      {.min = absl::Microseconds(1), .max = absl::Hours(1)});
    flags.AddDuration({.name = "deadline", .group = "g", .help = "h"}, deadline);
    flags.AddDouble({.name = "share", .group = "g", .help = "h"}, share, {.min = 0, .max = 1});
    flags.AddDouble({.name = "factor", .group = "g", .help = "h"}, factor);
    flags.AddSwitch({.name = "verify", .group = "g", .help = "h"}, verify);
    flags.AddString({.name = "output", .group = "g", .help = "h"}, output);
    flags.AddChoice<Color>({.name = "color", .group = "g", .help = "h"}, color,
                           {{"red", Color::kRed}, {"blue", Color::kBlue}});
  }

  std::uint64_t keys = 10;
  std::uint32_t credits = 8;
  std::optional<std::uint32_t> rank;
  std::uint32_t slot_bytes = 65536;
  std::uint64_t any_bytes = 3;
  absl::Duration interval = absl::Milliseconds(10);
  std::optional<absl::Duration> deadline;
  double share = 0.5;
  double factor = 2;
  bool verify = false;
  std::string output = "default";
  Color color = Color::kRed;
  FlagSet flags{{.program = "prog", .summary = "s", .version = "v", .commit = "c"}};
};

/// The flags that all queries have.
struct QueryFlags {
  QueryFlags() {
    RegisterEngineFlags(flags, engine, {.has_check = true, .has_loop = true});
    queries::RegisterInputFlags(flags, input);
  }

  EngineOptions engine;
  queries::InputFlags input;
  FlagSet flags{{.program = "prog", .summary = "s", .version = "v", .commit = "c"}};
};

/// What the program has for a flag.
std::optional<long double> ValueOf(const Program& program, const std::string& name) {
  const auto seconds = [](absl::Duration duration) -> long double {
    return static_cast<long double>(absl::ToInt64Nanoseconds(duration)) / 1e9L;
  };
  if (name == "keys") return program.keys;
  if (name == "credits") return program.credits;
  if (name == "rank") return program.rank;
  if (name == "slot-bytes") return program.slot_bytes;
  if (name == "any-bytes") return program.any_bytes;
  if (name == "interval") return seconds(program.interval);
  if (name == "deadline") return program.deadline ? std::optional(seconds(*program.deadline)) : std::nullopt;
  if (name == "share") return program.share;
  if (name == "factor") return program.factor;
  if (name == "verify") return program.verify ? 1 : 0;
  if (name == "color") return program.color == Color::kBlue ? 1 : 0;
  return std::nullopt;
}

struct Answer {
  std::optional<int> exit_code;
  std::string out;
  std::string err;
};

Answer Give(FlagSet& flags, const Arguments& arguments) {
  std::vector<const char*> argv = {"prog"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  Answer answer;
  answer.exit_code = flags.Parse(static_cast<int>(argv.size()), argv.data(), out, err);
  answer.out = out.str();
  answer.err = err.str();
  if (answer.exit_code == 2) {
    Require(answer.out.empty(), "a refusal prints nothing else");
    Require(answer.err.starts_with("prog: ") && answer.err.ends_with(" (prog --help lists all flags)\n"),
            "a refusal says which program speaks and where help is");
    Require(answer.err.find('\n') == answer.err.size() - 1, "a refusal is one line");
  } else {
    Require(answer.err.empty(), "without a refusal there is no complaint");
    Require(!answer.exit_code.has_value() || (answer.exit_code == 0 && !answer.out.empty()), "help ends with 0");
  }
  return answer;
}

/// The flags as the program writes them, in other words for the same command line.
Arguments WrittenBack(const FlagSet& flags) {
  Arguments arguments;
  for (const auto& [name, text] : flags.AllSettings()) {
    if (!text.empty()) arguments.push_back("--" + name + "=" + text);
  }
  return arguments;
}

/// In seconds. Parts of a time are cut to 1/4 ns each, and their sum to 1 ns.
constexpr long double kMostTimeError = 1e-8L;

/// Whether long doubles cannot tell on which side of a bound the time is. A time at a bound is exact if it is written
/// without a fraction.
bool IsNearABound(const std::string& text, const FlagRule& rule) {
  const std::optional<long double> seconds = ReadSeconds(text);
  if (!seconds.has_value()) return false;
  const bool is_at = *seconds == rule.least || *seconds == rule.most;
  if (is_at && text.find('.') == std::string::npos) return false;
  return std::fabs(*seconds - rule.least) < kMostTimeError || std::fabs(*seconds - rule.most) < kMostTimeError;
}

void Check(const Arguments& arguments) {
  Program program;
  const Answer answer = Give(program.flags, arguments);
  const CommandLineReading reading = ReadCommandLine(arguments);
  if (reading.help || reading.version) {
    Require(answer.exit_code == 0, "help and version count whatever else there is");
    Require(answer.out == (reading.help ? program.flags.HelpText() : program.flags.VersionText()), "they print it");
    return;
  }
  bool refused = reading.refused;
  bool near_a_bound = false;  // closer than long doubles and durations of 1/4 ns can tell
  for (const auto& [name, text] : reading.texts) {
    const FlagRule& rule = *FindRule(name);
    if (rule.kind == FlagKind::kDuration) near_a_bound = near_a_bound || IsNearABound(text, rule);
    refused = refused || !ReadFlag(rule, text).has_value();
  }
  if (near_a_bound) return;
  Require(answer.exit_code.has_value() == refused, "a command line is refused if one of its arguments is wrong");
  if (refused) return;
  const Program untouched;
  for (const FlagRule& rule : FlagRules()) {
    const auto given = reading.texts.find(rule.name);
    Require(program.flags.WasGiven(rule.name) == (given != reading.texts.end()), "it is known which flags were given");
    if (given == reading.texts.end()) {
      Require(ValueOf(program, rule.name) == ValueOf(untouched, rule.name), "a flag that is not given has its default");
    } else if (rule.kind == FlagKind::kText) {
      Require(program.output == given->second, "text is taken as it is");
    } else if (rule.kind == FlagKind::kDuration) {
      const long double difference = *ValueOf(program, rule.name) - *ReadFlag(rule, given->second);
      Require(std::fabs(difference) < kMostTimeError, "a time is what is written");
    } else {
      Require(ValueOf(program, rule.name) == ReadFlag(rule, given->second), "a value is what is written");
    }
  }
  Program again;
  Require(!Give(again.flags, WrittenBack(program.flags)).exit_code.has_value(), "what the program writes, it reads");
  Require(again.flags.AllSettings() == program.flags.AllSettings(), "what the program writes means the same again");
  for (const FlagRule& rule : FlagRules()) {
    Require(ValueOf(again, rule.name) == ValueOf(program, rule.name),
            "what the program writes has the same value again");
  }
  Require(again.output == program.output, "text is written as it is");
  Require(again.interval == program.interval && again.deadline == program.deadline, "times are written exactly");
}

void CheckQueryFlags(const Arguments& arguments) {
  QueryFlags program;
  if (Give(program.flags, arguments).exit_code.has_value()) return;
  QueryFlags again;
  Require(!Give(again.flags, WrittenBack(program.flags)).exit_code.has_value(), "what the program writes, it reads");
  Require(again.flags.AllSettings() == program.flags.AllSettings(), "what the program writes means the same again");
}

std::string DrawText(FuzzedDataProvider& input) {
  constexpr const char* kTexts[] = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "1024",
                                    "1025",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "10k",
                                    "3M",
                                    "1G",
                                    "+1",
                                    "00",
                                    "1.5",
                                    "64KiB",
                                    "1 mib",
                                    "16MiB",
                                    "17MiB",
                                    "4096B",
                                    "1tib",
                                    "16777217TiB",
                                    "17179869185 GiB",
                                    "10ms",
                                    "1h",
                                    "60m",
                                    "8760h",
                                    "1h1m",
                                    "1.5h",
                                    "-0",
                                    "inf",
                                    "nan",
                                    "1us",
                                    ".5s",
                                    "1ns",
                                    "0.25",
                                    "1e-9",
                                    "1e308",
                                    "1e309",
                                    "true",
                                    "FALSE",
                                    "on",
                                    "red",
                                    "blue",
                                    "--",
                                    "-h",
                                    "--help",
                                    "{}",
                                    "[]",
                                    "[1,2]",
                                    "%%",
                                    "a=b",
                                    "\"q\"",
                                    "'",
                                    "a.csv",
                                    "/dev/null",
                                    "zipf:1.5",
                                    "pareto:0",
                                    "uniform",
                                    "[::1]:7700",
                                    "127.0.0.1:0",
                                    "\n",
                                    " ",
                                    "auto",
                                    "shm",
                                    "local"};
  switch (input.ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      return input.ConsumeRandomLengthString(24);
    case 1: {
      std::string text = input.PickValueInArray(kTexts);
      Damage(input, text);
      return text;
    }
    default:
      return input.PickValueInArray(kTexts);
  }
}

/// An argument, or two: the flag and its value.
void DrawArgument(FuzzedDataProvider& input, const std::vector<std::string>& names, Arguments& arguments) {
  std::string name = names[input.ConsumeIntegralInRange<std::size_t>(0, names.size() - 1)];
  const int shape = input.ConsumeIntegralInRange<int>(0, 15);
  if (shape == 0) return arguments.push_back(DrawText(input));
  if (shape == 1) Damage(input, name);
  if (shape == 2) name = input.ConsumeBool() ? "help" : "version";
  if (shape == 3) name.insert(0, "no-");
  for (char& c : name) c = c == '-' && shape == 4 ? '_' : c;
  if (shape < 3 || shape == 5 || (shape == 3 && input.ConsumeBool())) return arguments.push_back("--" + name);
  if (shape < 14) return arguments.push_back("--" + name + "=" + DrawText(input));
  arguments.push_back("--" + name);
  arguments.push_back(DrawText(input));
}

Arguments Draw(FuzzedDataProvider& input, const std::vector<std::string>& names) {
  Arguments arguments;
  for (int left = input.ConsumeIntegralInRange<int>(0, 6); left > 0; --left) DrawArgument(input, names, arguments);
  for (std::string& argument : arguments) argument.resize(std::min(argument.find('\0'), argument.size()));
  return arguments;
}

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glaive::engine;  // NOLINT(google-build-using-namespace): the entry point is not in a namespace
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const FlagRule& rule : FlagRules()) all.emplace_back(rule.name);
    return all;
  }();
  // Names of files are left out: which paths there are is the machine's.
  static const std::vector<std::string> query_names = [] {
    std::vector<std::string> all;
    for (const auto& [name, text] : QueryFlags().flags.AllSettings()) {
      if (name != "output" && name != "json" && name != "secret-file" && name != "export-input") all.push_back(name);
    }
    all.insert(all.end(), {"rank", "allowed-lateness"});  // without a default
    return all;
  }();
  FuzzedDataProvider input(data, size);
  if (input.ConsumeIntegralInRange<int>(0, 3) == 0) {
    CheckQueryFlags(Draw(input, query_names));
  } else {
    Check(Draw(input, names));
  }
  return 0;
}
