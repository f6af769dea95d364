#include "rdma/base/bytes.h"

#include <array>
#include <charconv>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace glaive {
namespace {

struct Unit {
  const char* name;
  int shift;
};

// Largest first.
constexpr std::array<Unit, 5> kUnits = {{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};

absl::Status TooLarge(std::string_view text) {
  return absl::OutOfRangeError(absl::StrCat("the size '", std::string(text), "' does not fit in 64 bits"));
}

absl::Status NotASize(std::string_view text, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(text), "' is not a size: ", why,
                   "; write a whole number with B, KiB, MiB, GiB, TiB or no unit, like 64KiB"));
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseBytes(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range) return TooLarge(text);
  if (error != std::errc()) return NotASize(text, "it does not start with a number");
  const absl::string_view unit = absl::StripLeadingAsciiWhitespace({after, static_cast<std::size_t>(end - after)});
  if (unit.empty()) return number;
  for (const Unit& known : kUnits) {
    if (!absl::EqualsIgnoreCase(unit, known.name)) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() >> known.shift) {
      return TooLarge(text);
    }
    return number << known.shift;
  }
  return NotASize(text, absl::StrCat("the unit '", unit, "' is unknown"));
}

std::string FormatBytes(std::uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    const std::uint64_t unit_bytes = std::uint64_t{1} << unit.shift;
    if (bytes < unit_bytes) continue;
    if (bytes % unit_bytes == 0) return absl::StrCat(bytes / unit_bytes, unit.name);
    return absl::StrFormat("%.2f%s", static_cast<double>(bytes) / static_cast<double>(unit_bytes), unit.name);
  }
  return "0B";
}

}  // namespace glaive
