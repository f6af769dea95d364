// FlagSet: the command line of a program. Flags are registered with a group, a unit and a default, then parsed once;
// --help, --version and every complaint are written here, so that all programs speak alike.
//
// Used by `main`, single-threaded, no globals: a test may have many. Flags write straight into the variables they were
// registered with, which must outlive the FlagSet's use and hold the default at registration.
//
// Hyphens and underscores in a flag's name are the same (--slot_bytes). A flag given twice takes the last value.
// `--name=value` and `--name value` both work; no value is empty. Sizes: 64KiB; durations: 10ms; integers may end in k,
// M or G.
//
//   FlagSet flags({.program = "ysb", .summary = "Yahoo Streaming Benchmark.", .version = "0.1", .commit = kCommit});
//   std::uint64_t keys = 10'000'000;
//   flags.AddInteger({.name = "keys", .group = "ysb", .help = "distinct keys"}, keys, {.min = 1});
//   if (std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr)) return *exit_code;
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "engine/flags/flag.h"
#include "engine/flags/named_files.h"

namespace glaive::engine {

struct ProgramInfo {
  std::string program;  ///< as in messages: "ysb: ..."
  std::string summary;  ///< first lines of --help
  std::string version;
  std::string commit;
};

class FlagSet {
 public:
  explicit FlagSet(ProgramInfo info) : info_(std::move(info)) {}
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  /// A count; `Unsigned` may be any unsigned type, whose own limit narrows `range`.
  template <typename Unsigned>
    requires std::is_unsigned_v<Unsigned>
  void AddInteger(const FlagInfo& info, Unsigned& value, IntegerRange range = {}) {
    Add(IntegerFlag(info, Narrow<Unsigned>(range), SetterOf(value), GetterOf(value)));
  }
  /// A count without a default: absent unless given.
  template <typename Unsigned>
    requires std::is_unsigned_v<Unsigned>
  void AddInteger(const FlagInfo& info, std::optional<Unsigned>& value, IntegerRange range = {}) {
    Add(IntegerFlag(info, Narrow<Unsigned>(range), SetterOf(value), GetterOf(value)));
  }
  /// A number of bytes: "64KiB", "4096".
  template <typename Unsigned>
    requires std::is_unsigned_v<Unsigned>
  void AddSize(const FlagInfo& info, Unsigned& value, IntegerRange range = {}) {
    Add(SizeFlag(info, Narrow<Unsigned>(range), SetterOf(value), GetterOf(value)));
  }
  /// A finite length of time: "10ms", "1m30s"; "0" is zero.
  void AddDuration(const FlagInfo& info, absl::Duration& value, DurationRange range = {}) {
    Add(DurationFlag(
        info, range, [&value](absl::Duration parsed) { value = parsed; }, [&value] { return std::optional(value); }));
  }
  /// The same without a default: absent unless given.
  void AddDuration(const FlagInfo& info, std::optional<absl::Duration>& value, DurationRange range = {}) {
    Add(DurationFlag(info, range, [&value](absl::Duration parsed) { value = parsed; }, [&value] { return value; }));
  }
  void AddDouble(const FlagInfo& info, double& value, DoubleRange range = {}) { Add(DoubleFlag(info, value, range)); }
  /// A switch: --verify, --verify=false, --no-verify.
  void AddSwitch(const FlagInfo& info, bool& value) { Add(SwitchFlag(info, value)); }
  /// `placeholder` stands for the value in --help, e.g. "FILE".
  void AddString(const FlagInfo& info, std::string& value, std::string placeholder = "TEXT") {
    Add(StringFlag(info, value, std::move(placeholder)));
  }
  /// One of a few words.
  template <typename Enum>
  void AddChoice(const FlagInfo& info, Enum& value, const std::vector<std::pair<std::string, Enum>>& choices) {
    std::vector<std::string> words;
    for (const auto& choice : choices) {
      words.push_back(choice.first);
    }
    Add(ChoiceFlag(
        info, words, [&value, choices](std::size_t index) { value = choices[index].second; },
        [&value, choices] {
          std::size_t index = 0;
          while (index + 1 < choices.size() && choices[index].second != value) {
            ++index;
          }
          return index;
        }));
  }

  /// A check over several flags, run by Parse after all values are in. Its error is shown like a bad value.
  void AddCheck(std::function<absl::Status()> check) { checks_.push_back(std::move(check)); }

  /// Reads the command line. Empty: go on. Otherwise the program's exit code: 0 after --help or --version (written to
  /// `out`), 2 after one line on `err` that says what is wrong.
  std::optional<int> Parse(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

  /// Writes "program: message" with the hint to --help as one line; returns 2. For what `main` finds out later.
  int UsageError(const absl::Status& status, std::ostream& err) const;

  /// The shared flags by name, in their exact canonical form: equal text means equal value. Absent values are left out.
  std::map<std::string, std::string> Settings() const;
  /// The same for every flag.
  std::map<std::string, std::string> AllSettings() const;
  /// The flags that name files, with their values; those without one are left out.
  std::vector<NamedFile> NamedFiles() const;
  /// Whether the flag was given on the command line. Unknown names are a CHECK failure.
  bool WasGiven(std::string_view name) const;

  std::string HelpText() const;
  std::string VersionText() const;

 private:
  template <typename Unsigned>
  static IntegerRange Narrow(IntegerRange range) {
    range.max = std::min<std::uint64_t>(range.max, std::numeric_limits<Unsigned>::max());
    return range;
  }
  template <typename Unsigned>
  static std::function<void(std::uint64_t)> SetterOf(std::optional<Unsigned>& value) {
    return [&value](std::uint64_t parsed) { value = static_cast<Unsigned>(parsed); };
  }
  template <typename Unsigned>
  static std::function<void(std::uint64_t)> SetterOf(Unsigned& value) {
    return [&value](std::uint64_t parsed) { value = static_cast<Unsigned>(parsed); };
  }
  template <typename Value>
  static std::function<std::optional<std::uint64_t>()> GetterOf(const Value& value) {
    return [&value]() -> std::optional<std::uint64_t> { return value; };
  }

  void Add(Flag flag);
  Flag* Find(std::string_view name);
  absl::Status Assign(const std::vector<std::pair<std::string, std::string>>& given);

  ProgramInfo info_;
  std::vector<Flag> flags_;
  std::vector<std::function<absl::Status()>> checks_;
};

}  // namespace glaive::engine
