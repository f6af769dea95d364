#include "queries/cm/task_event_csv.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include <xxhash.h>

namespace glaive::queries::cm {
namespace {

constexpr std::size_t kFields = 13;

/// The time of what happened after the trace's end.
constexpr std::int64_t kAfterTheEnd = std::numeric_limits<std::int64_t>::max();

enum class Empty : bool { kRefused, kZero };

/// Walks along the fields of a line, and remembers the first that is wrong.
class Row {
 public:
  Row(std::string_view line, engine::ParseError& error) : line_(line), error_(&error) {}

  /// The next field as a whole number of at most `max`.
  std::int64_t Integer(std::string_view name, Empty empty, std::int64_t max) {
    const std::string_view field = Next(name);
    std::uint64_t value = 0;
    if (field.empty() && empty == Empty::kZero) {
      return 0;
    }
    const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (failure != std::errc() || end != field.data() + field.size() || value > static_cast<std::uint64_t>(max)) {
      Refuse(name, field, absl::StrCat("a whole number from 0 to ", max));
    }
    return static_cast<std::int64_t>(value);
  }

  /// The next field as a number without a sign, rounded once; 0 if it is empty.
  float Number(std::string_view name) {
    const std::string_view field = Next(name);
    constexpr float kMax = std::numeric_limits<float>::max();
    float value = 0;
    if (field.empty()) {
      return 0;
    }
    // Beyond the range of a float the result is 0, which is right, or the greatest.
    const auto [end, failure] = absl::from_chars(field.data(), field.data() + field.size(), value);
    // A sign is refused by itself, since -1e-400 is rounded to a zero; and so is 0x1p3, which is a number to absl.
    const bool is_decimal = !field.starts_with('-') && field.find_first_of("xX") == std::string_view::npos;
    const bool is_number = is_decimal && failure != std::errc::invalid_argument && end == field.data() + field.size();
    if (!is_number || !(value >= 0 && value <= kMax)) {  // "nan" and "inf" are none, too
      Refuse(name, field, "a number that is not negative");
    } else if (failure == std::errc::result_out_of_range && value == kMax) {
      Refuse(name, field, absl::StrCat("a number of at most ", kMax));
    }
    return value;
  }

  std::string_view Text(std::string_view name) { return Next(name); }

  /// Refuses a line that goes on.
  void End() {
    if (position_ <= line_.size()) {
      Fail(position_ + 1, absl::StrCat("the line goes on behind its ", kFields, " fields"));
    }
  }

  bool ok() const { return ok_; }

 private:
  std::string_view Next(std::string_view name) {
    ++count_;
    if (position_ > line_.size()) {
      Fail(line_.size() + 1, absl::StrCat("the line ends before its field ", count_, " of ", kFields, " (",
                                          std::string(name), "); is it cut off?"));
      return {};
    }
    begin_ = position_;
    const std::size_t end = std::min(line_.find(',', begin_), line_.size());
    position_ = end + 1;
    return line_.substr(begin_, end - begin_);
  }

  void Refuse(std::string_view name, std::string_view field, std::string_view wanted) {
    const std::string quoted = field.empty() ? "empty" : engine::Quoted(field);
    Fail(begin_ + 1, absl::StrCat(std::string(name), " is ", quoted, "; ", std::string(wanted), " is expected"));
  }

  void Fail(std::size_t column, std::string reason) {
    if (ok_) {
      error_->At(column, std::move(reason));
    }
    ok_ = false;
  }

  std::string_view line_;
  engine::ParseError* error_;
  std::size_t position_ = 0;  // where the next field begins; behind the end: there is none
  std::size_t begin_ = 0;     // where the last one did
  std::size_t count_ = 0;
  bool ok_ = true;
};

std::int32_t HashOfUser(std::string_view user) {
  return user.empty() ? 0 : std::bit_cast<std::int32_t>(XXH32(user.data(), user.size(), /*seed=*/0));
}

}  // namespace

engine::Parsed ParseTaskEvent::operator()(std::string_view line, TaskEvent& event, engine::ParseError& error) const {
  constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
  Row row(line, error);
  event.timestamp_us = row.Integer("time", Empty::kRefused, kMax64);
  row.Integer("missing info", Empty::kZero, kMax32);
  event.job_id = row.Integer("job ID", Empty::kRefused, kMax64);
  event.task_index = row.Integer("task index", Empty::kRefused, kMax64);
  event.machine_id = row.Integer("machine ID", Empty::kZero, kMax64);
  event.event_type = static_cast<TaskEventType>(row.Integer("event type", Empty::kRefused, kTaskEventTypes - 1));
  event.user = HashOfUser(row.Text("user"));
  event.category = static_cast<std::int32_t>(row.Integer("scheduling class", Empty::kZero, kMax32));
  event.priority = static_cast<std::int32_t>(row.Integer("priority", Empty::kRefused, kMax32));
  event.cpu = row.Number("CPU request");
  event.ram = row.Number("memory request");
  event.disk = row.Number("disk space request");
  event.constraint = static_cast<std::int32_t>(row.Integer("different machines restriction", Empty::kZero, 1));
  row.End();
  if (!row.ok()) {
    return engine::Parsed::kBad;
  }
  return event.timestamp_us == kAfterTheEnd ? engine::Parsed::kOutside : engine::Parsed::kRecord;
}

}  // namespace glaive::queries::cm
