// ParseCommandLine: splits a command line into flags and their text. The one place that knows CLI11.
//
// A pure function; knows names only, not types.
//
//   auto parsed = ParseCommandLine(argc, argv, {{.name = "keys"}, {.name = "verify", .is_switch = true}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace glaive::engine {

/// The properties of a flag that the parser uses.
struct FlagShape {
  std::string name;
  bool is_switch = false;  ///< may stand alone, and has a --no- form
};

struct CommandLine {
  bool help = false;
  bool version = false;
  /// Name and text of every flag that was given, at most once each (the last one counts).
  std::vector<std::pair<std::string, std::string>> given;
};

/// kInvalidArgument says which argument is wrong: a flag that does not exist (with the nearest that does), one without
/// its value or with an empty one, or a word that is no flag. Not when --help or --version is there: then nothing else
/// matters.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv, const std::vector<FlagShape>& flags);

}  // namespace glaive::engine
