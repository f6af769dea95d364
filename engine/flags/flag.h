// Flag: one flag of a program, whatever its type: how its text is read, checked, and written back.
//
// Made by the functions below, normally through FlagSet. Single-threaded. The variables behind a flag must outlive it.
//
//   Flag flag = SizeFlag({.name = "slot-bytes", .group = "Channel", .help = "..."}, {.min = 256}, set, get);
//   absl::Status status = flag.set("64KiB");
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace glaive::engine {

/// Whether all ranks of a run must be started with the same value.
enum class FlagScope {
  kShared,   ///< compared when a node joins, and part of FlagSet::Settings()
  kPerRank,  ///< each rank's own business
};

/// The use of the file that a flag names.
enum class FileUse {
  kNone,         ///< the flag names none
  kRead,         ///< a file, a folder or a pattern
  kWrite,        ///< a file, device or pipe, by rank 0, which claims it before the run's work (FileClaims)
  kWriteParts,   ///< a part of each executor's beside the name, and the name if they are joined
  kWriteFolder,  ///< a folder that is empty, or made: parts of each executor's in it
};

struct FlagInfo {
  std::string name;   ///< without dashes, words separated by hyphens
  std::string group;  ///< heading in --help; groups appear in order of first use
  std::string help;   ///< a fragment of a sentence; the unit is part of it where the type does not say it
  FlagScope scope = FlagScope::kShared;
  FileUse file = FileUse::kNone;
};

/// Inclusive bounds.
struct IntegerRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};
struct DoubleRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};
struct DurationRange {
  absl::Duration min = absl::ZeroDuration();
  absl::Duration max = absl::Hours(24 * 365);
};

struct Flag {
  FlagInfo info;
  std::string placeholder;  ///< stands for the value in --help
  bool is_switch = false;   ///< may be given without a value
  /// Reads a value; the error says what is wrong with it and what to write instead.
  std::function<absl::Status(const std::string&)> set = nullptr;
  /// The value in canonical form; absent when there is none.
  std::function<std::optional<std::string>()> get = nullptr;
  std::string default_text = {};  ///< get() at registration
  bool given = false;
};

using UnsignedSetter = std::function<void(std::uint64_t)>;
using UnsignedGetter = std::function<std::optional<std::uint64_t>()>;

Flag IntegerFlag(const FlagInfo& info, IntegerRange range, UnsignedSetter set, UnsignedGetter get);
Flag SizeFlag(const FlagInfo& info, IntegerRange range, UnsignedSetter set, UnsignedGetter get);
Flag DurationFlag(const FlagInfo& info, DurationRange range, std::function<void(absl::Duration)> set,
                  std::function<std::optional<absl::Duration>()> get);
Flag DoubleFlag(const FlagInfo& info, double& value, DoubleRange range);
Flag SwitchFlag(const FlagInfo& info, bool& value);
Flag StringFlag(const FlagInfo& info, std::string& value, std::string placeholder);
Flag ChoiceFlag(const FlagInfo& info, const std::vector<std::string>& words, std::function<void(std::size_t)> set,
                std::function<std::size_t()> get);

/// The shortest exact way to write a size: 65536 is "64KiB", 65537 is "65537".
std::string ExactBytes(std::uint64_t bytes);

}  // namespace glaive::engine
