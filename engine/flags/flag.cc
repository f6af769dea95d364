#include "engine/flags/flag.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "rdma/base/bytes.h"

namespace glaive::engine {
namespace {

absl::Status WrongValue(const std::string& text) { return absl::InvalidArgumentError(text); }

// Digits with an optional k, M or G. OutOfRange: more than 64 bits hold.
absl::StatusOr<std::uint64_t> ParseCount(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
        unit = 1'000;
        break;
      case 'M':
        unit = 1'000'000;
        break;
      case 'G':
        unit = 1'000'000'000;
        break;
      default:
        break;
    }
  }
  if (unit != 1) text.remove_suffix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return absl::InvalidArgumentError("not a whole number");
  }
  if (error != std::errc() || number > std::numeric_limits<std::uint64_t>::max() / unit) {
    return absl::OutOfRangeError("it does not fit in 64 bits");
  }
  return number * unit;
}

using ParseUnsigned = absl::StatusOr<std::uint64_t> (*)(std::string_view);
using FormatUnsigned = std::string (*)(std::uint64_t);

// A number within the range; `hint` says what to write in place of text that is none.
absl::StatusOr<std::uint64_t> ParseWithin(std::string_view text, IntegerRange range, ParseUnsigned parse,
                                          FormatUnsigned format, const char* hint) {
  const bool is_negative = !text.empty() && text.front() == '-';
  absl::StatusOr<std::uint64_t> value = parse(text.substr(is_negative ? 1 : 0));
  if (!value.ok() && !absl::IsOutOfRange(value.status())) return WrongValue(hint);
  if (is_negative || !value.ok() || *value < range.min || *value > range.max) {
    return WrongValue(absl::StrCat("out of range; it must be ", format(range.min), " to ", format(range.max)));
  }
  return value;
}

std::string FormatCount(std::uint64_t value) { return absl::StrCat(value); }

std::function<std::optional<std::string>()> TextOf(UnsignedGetter get, FormatUnsigned format) {
  return [get = std::move(get), format]() -> std::optional<std::string> {
    const std::optional<std::uint64_t> value = get();
    if (!value.has_value()) return std::nullopt;
    return format(*value);
  };
}

Flag Finish(Flag flag) {
  flag.default_text = flag.get().value_or("");
  return flag;
}

}  // namespace

Flag IntegerFlag(const FlagInfo& info, IntegerRange range, UnsignedSetter set, UnsignedGetter get) {
  Flag flag{.info = info, .placeholder = "N"};
  flag.set = [range, set = std::move(set)](const std::string& text) {
    const absl::StatusOr<std::uint64_t> value = ParseWithin(
        text, range, &ParseCount, &FormatCount, "not a whole number; write e.g. 1000, or 10M for ten million");
    if (value.ok()) set(*value);
    return value.status();
  };
  flag.get = TextOf(std::move(get), &FormatCount);
  return Finish(std::move(flag));
}

Flag SizeFlag(const FlagInfo& info, IntegerRange range, UnsignedSetter set, UnsignedGetter get) {
  Flag flag{.info = info, .placeholder = "SIZE"};
  flag.set = [range, set = std::move(set)](const std::string& text) {
    const absl::StatusOr<std::uint64_t> value =
        ParseWithin(text, range, &ParseBytes, &ExactBytes, "not a size; write e.g. 64KiB");
    if (value.ok()) set(*value);
    return value.status();
  };
  flag.get = TextOf(std::move(get), &ExactBytes);
  return Finish(std::move(flag));
}

Flag DurationFlag(const FlagInfo& info, DurationRange range, std::function<void(absl::Duration)> set,
                  std::function<std::optional<absl::Duration>()> get) {
  Flag flag{.info = info, .placeholder = "TIME"};
  flag.set = [range, set = std::move(set)](const std::string& text) {
    absl::Duration parsed;
    if (!absl::ParseDuration(text, &parsed)) {
      return WrongValue("not a time; write e.g. 10ms, 1.5s or 2m");
    }
    if (parsed < range.min || parsed > range.max) {
      return WrongValue(absl::StrCat("out of range; it must be ", absl::FormatDuration(range.min), " to ",
                                     absl::FormatDuration(range.max)));
    }
    set(parsed);
    return absl::OkStatus();
  };
  flag.get = [get = std::move(get)]() -> std::optional<std::string> {
    const std::optional<absl::Duration> value = get();
    return value ? std::optional(absl::FormatDuration(*value)) : std::nullopt;
  };
  return Finish(std::move(flag));
}

Flag DoubleFlag(const FlagInfo& info, double& value, DoubleRange range) {
  Flag flag{.info = info, .placeholder = "X"};
  flag.set = [range, &value](const std::string& text) {
    double parsed = 0;
    if (!absl::SimpleAtod(text, &parsed) || std::isnan(parsed)) return WrongValue("not a number; write e.g. 0.75");
    if (parsed < range.min || parsed > range.max) {
      return WrongValue(absl::StrCat("out of range; it must be ", range.min, " to ", range.max));
    }
    value = parsed;
    return absl::OkStatus();
  };
  // Written with the fewest digits that read back as the same number.
  flag.get = [&value]() -> std::optional<std::string> {
    for (int digits = 6; digits < 17; ++digits) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.*g", digits, value);
      double back = 0;
      if (absl::SimpleAtod(text, &back) && back == value) return text;
    }
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return text;
  };
  return Finish(std::move(flag));
}

Flag SwitchFlag(const FlagInfo& info, bool& value) {
  Flag flag{.info = info, .placeholder = "", .is_switch = true};
  flag.set = [&value](const std::string& text) {
    const std::string word = absl::AsciiStrToLower(text);
    const bool on = word == "true" || word == "yes" || word == "on" || word == "1";
    if (!on && word != "false" && word != "no" && word != "off" && word != "0") {
      return WrongValue("neither true nor false");
    }
    value = on;
    return absl::OkStatus();
  };
  flag.get = [&value]() -> std::optional<std::string> { return value ? "true" : "false"; };
  return Finish(std::move(flag));
}

Flag StringFlag(const FlagInfo& info, std::string& value, std::string placeholder) {
  Flag flag{.info = info, .placeholder = std::move(placeholder)};
  flag.set = [&value](const std::string& text) {
    value = text;
    return absl::OkStatus();
  };
  flag.get = [&value]() -> std::optional<std::string> { return value; };
  return Finish(std::move(flag));
}

Flag ChoiceFlag(const FlagInfo& info, const std::vector<std::string>& words, std::function<void(std::size_t)> set,
                std::function<std::size_t()> get) {
  Flag flag{.info = info, .placeholder = absl::StrJoin(words, "|")};
  flag.set = [words, set = std::move(set)](const std::string& text) {
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (words[index] == text) {
        set(index);
        return absl::OkStatus();
      }
    }
    return WrongValue(absl::StrCat("not known; write one of ", absl::StrJoin(words, ", ")));
  };
  flag.get = [words, get = std::move(get)]() -> std::optional<std::string> { return words[get()]; };
  return Finish(std::move(flag));
}

std::string ExactBytes(std::uint64_t bytes) {
  constexpr absl::string_view kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes, kUnits[unit]);
}

}  // namespace glaive::engine
