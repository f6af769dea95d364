// Sizes in bytes as people write them: "64KiB", "1MiB", "2GiB", or a plain number.
//
// Pure functions; any thread may call them.
//
//   absl::StatusOr<std::uint64_t> slot_bytes = ParseBytes("64KiB");  // 65536
//   FormatBytes(65536);                                              // "64KiB"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace glaive {

/// Reads a whole number with an optional unit: B, KiB, MiB, GiB or TiB (powers of 1024, any case, blanks before
/// the unit allowed). InvalidArgument says what was written and what is accepted; OutOfRange when 64 bits do not hold
/// it.
absl::StatusOr<std::uint64_t> ParseBytes(std::string_view text);

/// The largest unit that gives at least 1: exact multiples as whole numbers ("64KiB"), anything else with two
/// decimals ("1.46GiB"). What it writes without decimals, ParseBytes reads back.
std::string FormatBytes(std::uint64_t bytes);

}  // namespace glaive
