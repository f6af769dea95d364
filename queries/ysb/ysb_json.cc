#include "queries/ysb/ysb_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "queries/ysb/uuid.h"

namespace glaive::queries::ysb {
namespace {

/// A number with a fraction or an exponent. No field that is read has one, and fields that nobody reads may have one
/// that is too large for a double: nlohmann parses it into the double, and refuses the line unless the number is
/// finite.
struct Unread {
  Unread(double parsed = 0) : value(parsed) {}  // NOLINT(google-explicit-constructor): as of a double
  operator double&() { return value; }          // NOLINT(google-explicit-constructor)
  operator double() const { return 0; }         // NOLINT(google-explicit-constructor)

  double value;
};

using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, Unread>;

constexpr std::size_t kComplaintBytes = 200;  // of the JSON parser's own message

constexpr std::int64_t kMaxEventTimeMs = 253'402'300'799'999;  // the end of the year 9999

enum Field : std::uint8_t { kUserId, kPageId, kAdId, kAdType, kEventType, kEventTime, kIpAddress, kNoField };
constexpr std::array<std::string_view, kNoField> kFieldNames = {"user_id",    "page_id",    "ad_id",     "ad_type",
                                                                "event_type", "event_time", "ip_address"};
// In the order of their enumerations.
constexpr std::array<std::string_view, kAdTypes> kAdTypeNames = {"banner", "modal", "sponsored-search", "mail",
                                                                 "mobile"};
constexpr std::array<std::string_view, kEventTypes> kEventTypeNames = {"view", "click", "purchase"};

/// Reads a line and notes how far, so that an error knows its column.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  char operator*() const { return *at; }
  Cursor& operator++() {
    *reached = ++at;
    return *this;
  }
  Cursor operator++(int) { return std::exchange(*this, Cursor{at + 1, reached}); }
  bool operator==(const Cursor& other) const { return at == other.at; }

  const char* at;
  const char** reached;
};

bool ReadInteger(std::string_view text, std::int64_t max, std::int64_t& value) {
  std::uint64_t digits = 0;  // of an unsigned number "-0" is none
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), digits);
  value = static_cast<std::int64_t>(digits);
  return failure == std::errc() && end == text.data() + text.size() && digits <= static_cast<std::uint64_t>(max);
}

/// Four numbers from 0 to 255 between dots.
bool ReadAddress(std::string_view text, std::uint32_t& address) {
  address = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t end = part == 3 ? text.size() : text.find('.');
    std::int64_t value = 0;
    if (end > 3 || !ReadInteger(text.substr(0, end), 255, value)) {
      return false;
    }
    address = address << 8 | static_cast<std::uint32_t>(value);
    text.remove_prefix(part == 3 ? end : end + 1);
  }
  return true;
}

template <typename Enum, std::size_t kNames>
bool ReadName(std::string_view text, const std::array<std::string_view, kNames>& names, Enum& value) {
  const auto found = std::find(names.begin(), names.end(), text);
  value = static_cast<Enum>(found - names.begin());
  return found != names.end();
}

template <std::size_t kNames>
std::string OneOf(const std::array<std::string_view, kNames>& names) {
  return absl::StrCat("one of ",
                      absl::StrJoin(names, ", ", [](std::string* out, std::string_view name) { out->append(name); }));
}

std::string Wanted(Field field) {
  switch (field) {
    case kAdType:
      return OneOf(kAdTypeNames);
    case kEventType:
      return OneOf(kEventTypeNames);
    case kEventTime:
      return "a time in milliseconds since 1970";
    case kIpAddress:
      return "an address like 1.2.3.4";
    default:
      return "a UUID";
  }
}

/// What nlohmann::json calls while it reads a line. Its functions return whether to go on.
class Handler {
 public:
  Handler(std::string_view line, YsbEvent& event, engine::ParseError& error)
      : line_(line), event_(&event), error_(&error), reached_(line.data()) {}

  engine::Parsed Parse() {
    // nlohmann's lexer takes a NUL byte for the end of the line.
    if (const std::size_t nul = line_.find('\0'); nul != std::string_view::npos) {
      return error_->At(nul + 1, "no valid JSON: a byte is NUL");
    }
    if (!Json::sax_parse(Cursor{line_.data(), &reached_}, Cursor{line_.data() + line_.size(), &reached_}, this)) {
      return engine::Parsed::kBad;
    }
    const auto missing = static_cast<std::size_t>(std::countr_one(seen_));
    if (missing < kNoField) {
      return error_->At(line_.size() + 1, absl::StrCat("the field ", std::string(kFieldNames[missing]), " is missing"));
    }
    return engine::Parsed::kRecord;
  }

  // nlohmann's names.
  bool null() { return Other("null"); }
  bool boolean(bool value) { return Other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return Other(absl::StrCat(value)); }
  bool number_unsigned(std::uint64_t value) { return Value(absl::StrCat(value), /*is_number=*/true); }
  bool number_float(Unread /*value*/, const std::string& text) { return Other(text); }
  bool string(const std::string& value) { return Value(value, /*is_number=*/false); }
  bool binary(const Json::binary_t& /*value*/) { return Other("binary data"); }
  bool start_array(std::size_t /*size*/) { return Open("an array"); }
  bool end_array() { return Close(); }
  bool start_object(std::size_t /*size*/) { return depth_++ == 0 || OpenInside("an object"); }
  bool end_object() { return Close(); }

  bool key(const std::string& name) {
    if (depth_ != 1) {
      return true;
    }
    const auto found = std::find(kFieldNames.begin(), kFieldNames.end(), name);
    field_ = static_cast<Field>(found - kFieldNames.begin());
    value_ = reached_;
    const std::uint32_t bit = field_ == kNoField ? 0 : 1U << field_;
    if ((seen_ & bit) != 0) {
      return Refuse(absl::StrCat("the field ", name, " is there twice"));
    }
    seen_ |= bit;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/, const Json::exception& failure) {
    std::string_view why = failure.what();  // "[...] parse error at line 1, column 7: <what is wrong>"
    why.remove_prefix(std::min(why.find("] ") + 2, why.size()));
    if (why.starts_with("parse error")) {
      why.remove_prefix(std::min(why.find(": ") + 2, why.size()));
    }
    error_->At(std::max<std::size_t>(position, 1),
               absl::StrCat("no valid JSON: ", absl::CHexEscape(std::string(why.substr(0, kComplaintBytes)))));
    return false;
  }

 private:
  bool Value(std::string_view text, bool is_number) {
    if (depth_ != 1 || field_ == kNoField) {
      return depth_ > 0 || NoObject();
    }
    return ((!is_number || field_ == kEventTime) && Set(text)) || RefuseValue(text);
  }

  bool Set(std::string_view text) {
    std::int64_t time_ms = 0;
    std::uint32_t address = 0;
    switch (field_) {
      case kUserId:
        return ParseUuid(text, event_->user_id);
      case kPageId:
        return ParseUuid(text, event_->page_id);
      case kAdId: {
        const bool read = ParseUuid(text, event_->ad_uuid);
        event_->ad_id = IdOf(event_->ad_uuid);
        return read;
      }
      case kAdType:
        return ReadName(text, kAdTypeNames, event_->ad_type);
      case kEventType:
        return ReadName(text, kEventTypeNames, event_->event_type);
      case kEventTime:
        return ReadInteger(text, kMaxEventTimeMs, time_ms) && ((event_->event_time_ms = time_ms), true);
      case kIpAddress:
        return ReadAddress(text, address) && ((event_->ip = address), true);
      case kNoField:
        break;
    }
    return true;
  }

  /// A value that no field may have.
  bool Other(std::string_view text) {
    if (depth_ == 1 && field_ != kNoField) {
      return RefuseValue(text);
    }
    return depth_ > 0 || NoObject();
  }
  bool Open(std::string_view what) { return depth_++ > 0 ? OpenInside(what) : NoObject(); }
  bool OpenInside(std::string_view what) { return depth_ != 2 || field_ == kNoField || RefuseValue(what); }
  bool Close() {
    --depth_;
    return true;
  }

  bool NoObject() {
    error_->At(1, "an object is expected: {\"user_id\": ...}");
    return false;
  }

  bool RefuseValue(std::string_view text) {
    return Refuse(absl::StrCat(std::string(kFieldNames[field_]), " is ", engine::Quoted(text), "; ", Wanted(field_),
                               " is expected"));
  }

  /// At the value behind the last key.
  bool Refuse(std::string reason) {
    const std::size_t behind_key = static_cast<std::size_t>(value_ - line_.data());
    const std::size_t value = std::min(line_.find_first_not_of(": \t", behind_key), line_.size());
    error_->At(value + 1, std::move(reason));
    return false;
  }

  std::string_view line_;
  YsbEvent* event_;
  engine::ParseError* error_;
  const char* reached_;
  const char* value_ = nullptr;  // behind the last key of the outer object
  Field field_ = kNoField;
  std::uint32_t seen_ = 0;  // a bit a field
  std::size_t depth_ = 0;
};

}  // namespace

engine::Parsed ParseYsbJson::operator()(std::string_view line, YsbEvent& event, engine::ParseError& error) {
  const engine::Parsed parsed = Handler(line, event, error).Parse();
  if (parsed == engine::Parsed::kRecord) {
    event.record_number = records_++;
  }
  return parsed;
}

}  // namespace glaive::queries::ysb
