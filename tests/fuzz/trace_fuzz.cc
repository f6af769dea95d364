// Feeds lines to the parser of the Google trace's CSV, and compares what it says with a slow reader of the same format,
// which takes a line apart first and looks at each field with the C library.
//
// An input that begins with '!' is drawn: the fields of a row, each in one of the spellings that a number has, then
// perhaps some damage. Any other input is a line as it is.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <xxhash.h>

#include "queries/cm/task_event_csv.h"
#include "tests/fuzz/decimal.h"
#include "tests/fuzz/parse_outcome.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/spelling.h"
#include "tests/fuzz/text_or_drawn.h"

namespace glaive::queries::cm {
namespace {

constexpr std::size_t kFields = 13;
constexpr std::uint64_t kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kUser = 6;
constexpr std::size_t kFirstNumber = 9;
constexpr std::size_t kLastNumber = 11;

/// The values that a field may have. The user and the three numbers have no bound here.
struct FieldRule {
  std::uint64_t most;
  bool may_be_empty;
};
constexpr std::array<FieldRule, kFields> kRules = {{{kMax64, false},
                                                    {kMax32, true},
                                                    {kMax64, false},
                                                    {kMax64, false},
                                                    {kMax64, true},
                                                    {8, false},
                                                    {0, true},
                                                    {kMax32, true},
                                                    {kMax32, false},
                                                    {0, true},
                                                    {0, true},
                                                    {0, true},
                                                    {1, true}}};

/// What the format's description says of a line: the event, or the column of the first thing that is wrong.
struct Reading {
  TaskEvent event{};
  std::size_t wrong_column = 0;  // 0: nothing
};

std::optional<std::uint64_t> WholeNumber(const std::string& field, const FieldRule& rule) {
  if (field.empty()) return rule.may_be_empty ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::uint64_t value = 0;
  for (const char c : field) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (digit > rule.most || value > (rule.most - digit) / 10) return std::nullopt;
    value = 10 * value + digit;
  }
  return value;
}

std::optional<float> Number(const std::string& field) {
  if (field.empty()) return 0.0F;
  if (!IsDecimal(field)) return std::nullopt;
  const float value = std::strtof(field.c_str(), nullptr);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Reading Read(const std::string& line) {
  std::vector<std::string> fields;
  std::vector<std::size_t> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t comma = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, comma - begin));
    columns.push_back(begin + 1);
    begin = comma + 1;
  }
  Reading reading;
  std::array<std::uint64_t, kFields> whole{};
  std::array<float, kFields> numbers{};
  for (std::size_t i = 0; i < kFields; ++i) {
    if (i >= fields.size()) {
      reading.wrong_column = line.size() + 1;
      return reading;
    }
    bool is_right = true;
    if (i >= kFirstNumber && i <= kLastNumber) {
      const std::optional<float> number = Number(fields[i]);
      numbers[i] = number.value_or(0);
      is_right = number.has_value();
    } else if (i != kUser) {
      const std::optional<std::uint64_t> number = WholeNumber(fields[i], kRules[i]);
      whole[i] = number.value_or(0);
      is_right = number.has_value();
    }
    if (!is_right) {
      reading.wrong_column = columns[i];
      return reading;
    }
  }
  if (fields.size() > kFields) reading.wrong_column = columns[kFields];
  const std::string& user = fields[kUser];
  reading.event = {.timestamp_us = static_cast<std::int64_t>(whole[0]),
                   .job_id = static_cast<std::int64_t>(whole[2]),
                   .task_index = static_cast<std::int64_t>(whole[3]),
                   .machine_id = static_cast<std::int64_t>(whole[4]),
                   .event_type = static_cast<TaskEventType>(whole[5]),
                   .user = user.empty() ? 0 : std::bit_cast<std::int32_t>(XXH32(user.data(), user.size(), 0)),
                   .category = static_cast<std::int32_t>(whole[7]),
                   .priority = static_cast<std::int32_t>(whole[8]),
                   .cpu = numbers[9],
                   .ram = numbers[10],
                   .disk = numbers[11],
                   .constraint = static_cast<std::int32_t>(whole[12])};
  return reading;
}

/// Whether both are the same bits: 0 and -0 are not.
bool SameBits(const TaskEvent& a, const TaskEvent& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

void Check(const std::string& line) {
  const auto outcome = ParseLine<TaskEvent>(line, ParseTaskEvent{});
  const Reading expected = Read(line);
  if (expected.wrong_column != 0) {
    Require(outcome.parsed == engine::Parsed::kBad, "a line that breaks the format is refused");
    Require(outcome.error.column == expected.wrong_column, "the error names the first field that is wrong");
    return;
  }
  const bool is_outside = expected.event.timestamp_us == std::numeric_limits<std::int64_t>::max();
  Require(outcome.parsed == (is_outside ? engine::Parsed::kOutside : engine::Parsed::kRecord),
          "a line of the format is read, or is outside the trace's time");
  Require(SameBits(outcome.record, expected.event), "every field has the value that is written");
}

/// A row whose values are drawn first and spelled then: what the parser has to say follows from the drawing alone.
void CheckDrawn(FuzzedDataProvider& input) {
  TaskEvent event{};
  std::string line;
  const auto whole = [&](std::uint64_t most, bool may_be_empty) {
    const std::uint64_t value = input.ConsumeIntegralInRange<std::uint64_t>(0, most);
    if (value != 0 || !may_be_empty || input.ConsumeBool()) line += SpellWhole(input, value);
    return value;
  };
  const auto next = [&] { line += ','; };
  const auto number = [&] {
    next();
    const float value = std::fabs(std::bit_cast<float>(input.ConsumeIntegral<std::uint32_t>()));
    if (!std::isfinite(value)) return 0.0F;
    line += SpellFloat(input, value);
    return value;
  };
  event.timestamp_us = static_cast<std::int64_t>(whole(kMax64 - 1, false));
  next();
  (void)whole(kMax32, true);
  next();
  event.job_id = static_cast<std::int64_t>(whole(kMax64, false));
  next();
  event.task_index = static_cast<std::int64_t>(whole(kMax64, false));
  next();
  event.machine_id = static_cast<std::int64_t>(whole(kMax64, true));
  next();
  event.event_type = static_cast<TaskEventType>(whole(8, false));
  next();
  std::string user = input.ConsumeRandomLengthString(48);
  std::erase(user, ',');
  line += user;
  event.user = user.empty() ? 0 : std::bit_cast<std::int32_t>(XXH32(user.data(), user.size(), 0));
  next();
  event.category = static_cast<std::int32_t>(whole(kMax32, true));
  next();
  event.priority = static_cast<std::int32_t>(whole(kMax32, false));
  event.cpu = number();
  event.ram = number();
  event.disk = number();
  next();
  event.constraint = static_cast<std::int32_t>(whole(1, true));
  const auto outcome = ParseLine<TaskEvent>(line, ParseTaskEvent{});
  Require(outcome.parsed == engine::Parsed::kRecord, "a row that was written by the format's rules is read");
  Require(SameBits(outcome.record, event), "a row is read as the values that were written");
  Damage(input, line);
  Check(line);
}

}  // namespace
}  // namespace glaive::queries::cm

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  glaive::TestTextOrDrawn(data, size, glaive::queries::cm::Check, glaive::queries::cm::CheckDrawn);
  return 0;
}
