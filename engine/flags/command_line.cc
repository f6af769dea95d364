#include "engine/flags/command_line.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace glaive::engine {
namespace {

const FlagShape* Find(const std::vector<FlagShape>& flags, std::string_view name) {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [name](const FlagShape& flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

// The number of letters to insert, drop or replace to get from one word to the other.
std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[to.size()];
}

absl::Status Unknown(const std::string& argument, const std::vector<FlagShape>& flags) {
  if (!absl::StartsWith(argument, "-") || argument == "--") {
    return absl::InvalidArgumentError(absl::StrCat("'", argument, "' is no flag; flags are written --name=value"));
  }
  const std::string name = argument.substr(0, argument.find('='));
  const std::string_view bare = std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
  const FlagShape* nearest = nullptr;
  std::size_t nearest_distance = 3;  // further away it is no typing mistake
  for (const FlagShape& flag : flags) {
    const std::size_t distance = EditDistance(bare, flag.name);
    if (distance < nearest_distance) {
      nearest = &flag;
      nearest_distance = distance;
    }
  }
  const std::string hint = nearest == nullptr ? "" : absl::StrCat("; did you mean --", nearest->name, "?");
  return absl::InvalidArgumentError(absl::StrCat(name, ": unknown flag", hint));
}

struct Normalized {
  std::vector<std::string> arguments;  // in reverse order, as CLI11 takes them
  bool help = false;
  bool version = false;
  absl::Status failure;
};

// Mostly a variable of a script that is not set: what it was to select would be left out in silence.
absl::Status EmptyValue(const std::string& flag) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=: the value is missing; write one (is a variable not set?), or leave the flag out"));
}

// Refuses values of switches that CLI11 misreads: it takes {} for no value, and a value of --no-verify for its
// contrary.
absl::Status CheckSwitch(const std::string& argument, std::size_t name_end, const std::vector<FlagShape>& flags) {
  const std::string name = argument.substr(0, name_end);
  const FlagShape* flag = Find(flags, std::string_view(name).substr(2));
  if (flag != nullptr && flag->is_switch && argument.substr(name_end) == "={}") {
    return absl::InvalidArgumentError(absl::StrCat(argument, ": neither true nor false"));
  }
  const FlagShape* denied = absl::StartsWith(name, "--no-") ? Find(flags, std::string_view(name).substr(5)) : nullptr;
  if (denied != nullptr && denied->is_switch && name_end < argument.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(argument, ": ", name, " takes no value; write --", denied->name, "=true or ", name));
  }
  return absl::OkStatus();
}

// Writes flag names with hyphens, finds values that no flag has, and finds --help and --version, which count even
// where something else is wrong.
Normalized Normalize(int argc, const char* const* argv, const std::vector<FlagShape>& flags) {
  Normalized result;
  bool is_value = false;  // the argument belongs to the flag before it
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    const bool was_value = std::exchange(is_value, false);
    if (was_value || !absl::StartsWith(argument, "--")) {
      result.help = result.help || (!was_value && argument == "-h");
      result.arguments.push_back(std::move(argument));
      continue;
    }
    const std::size_t name_end = std::min(argument.find('='), argument.size());
    std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(name_end), '_', '-');
    result.help = result.help || argument == "--help";
    result.version = result.version || argument == "--version";
    const FlagShape* flag = Find(flags, std::string_view(argument).substr(2, name_end - 2));
    if (flag != nullptr && name_end + 1 == argument.size()) result.failure.Update(EmptyValue(flag->name));
    result.failure.Update(CheckSwitch(argument, name_end, flags));
    is_value = flag != nullptr && !flag->is_switch && name_end == argument.size();
    if (is_value && i + 1 < argc && *argv[i + 1] == '\0') result.failure.Update(EmptyValue(flag->name));
    result.arguments.push_back(std::move(argument));
  }
  std::reverse(result.arguments.begin(), result.arguments.end());
  return result;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv, const std::vector<FlagShape>& flags) {
  Normalized normalized = Normalize(argc, argv, flags);
  CommandLine result{.help = normalized.help, .version = normalized.version, .given = {}};
  if (result.help || result.version) return result;
  if (!normalized.failure.ok()) return normalized.failure;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::string> values(flags.size());
  std::vector<CLI::Option*> options;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string name = absl::StrCat("--", flags[i].name);
    CLI::Option* option = flags[i].is_switch ? app.add_flag(absl::StrCat(name, ",!--no-", flags[i].name), values[i])
                                             : app.add_option(name, values[i]);
    options.push_back(option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
  }
  try {
    app.parse(std::move(normalized.arguments));
  } catch (const CLI::ArgumentMismatch&) {
    const std::string last = argv[argc - 1];
    return absl::InvalidArgumentError(absl::StrCat(last, ": the value is missing; write ", last, "=..."));
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) return Unknown(extras.front(), flags);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (options[i]->count() > 0) result.given.emplace_back(flags[i].name, values[i]);
  }
  return result;
}

}  // namespace glaive::engine
