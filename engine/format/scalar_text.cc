#include "engine/format/scalar_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "engine/format/line_parser.h"
#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

template <typename T>
bool ReadInteger(std::string_view text, void* into) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return false;
  }
  std::memcpy(into, &number, sizeof(number));  // perhaps an enum
  return true;
}

bool ReadAsAbseil(std::string_view text, float& number) {
  return absl::SimpleAtof(absl::string_view(text.data(), text.size()), &number);
}
bool ReadAsAbseil(std::string_view text, double& number) {
  return absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number);
}

template <typename T>
bool ReadFloating(std::string_view text, void* into) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) {
    return false;
  }
  // Too near to 0 for from_chars is 0 here; too large is an error.
  if (error != std::errc() &&
      (error != std::errc::result_out_of_range || !ReadAsAbseil(text, number) || std::abs(number) > 1)) {
    return false;
  }
  std::memcpy(into, &number, sizeof(number));
  return true;
}

bool ReadBool(std::string_view text, void* into) {
  const bool is_true = text == "true" || text == "1";
  if (!is_true && text != "false" && text != "0") {
    return false;
  }
  std::memcpy(into, &is_true, sizeof(is_true));
  return true;
}

bool ReadInt128(std::string_view text, void* into) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  absl::int128 number = 0;
  // SimpleAtoi takes blanks and a plus sign, too.
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos ||
      !absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number)) {
    return false;
  }
  std::memcpy(into, &number, sizeof(number));
  return true;
}

}  // namespace

bool ReadScalar(ValueKind kind, std::string_view text, void* into) {
  switch (kind) {
    case ValueKind::kBool:
      return ReadBool(text, into);
    case ValueKind::kInt8:
      return ReadInteger<std::int8_t>(text, into);
    case ValueKind::kInt16:
      return ReadInteger<std::int16_t>(text, into);
    case ValueKind::kInt32:
      return ReadInteger<std::int32_t>(text, into);
    case ValueKind::kInt64:
      return ReadInteger<std::int64_t>(text, into);
    case ValueKind::kUint8:
      return ReadInteger<std::uint8_t>(text, into);
    case ValueKind::kUint16:
      return ReadInteger<std::uint16_t>(text, into);
    case ValueKind::kUint32:
      return ReadInteger<std::uint32_t>(text, into);
    case ValueKind::kUint64:
      return ReadInteger<std::uint64_t>(text, into);
    case ValueKind::kInt128:
      return ReadInt128(text, into);
    case ValueKind::kFloat:
      return ReadFloating<float>(text, into);
    case ValueKind::kDouble:
      return ReadFloating<double>(text, into);
    case ValueKind::kText:
    case ValueKind::kRecord:
    case ValueKind::kArray:
    case ValueKind::kOptional:
      break;
  }
  GLAIVE_CHECK(false, "no number and no bool: a value of kind ", static_cast<int>(kind));
  return false;
}

std::string_view ExpectedOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool:
      return "true or false";
    case ValueKind::kInt8:
      return "an integer of 8 bits";
    case ValueKind::kInt16:
      return "an integer of 16 bits";
    case ValueKind::kInt32:
      return "an integer of 32 bits";
    case ValueKind::kInt64:
      return "an integer of 64 bits";
    case ValueKind::kUint8:
      return "an integer of 8 bits without a sign";
    case ValueKind::kUint16:
      return "an integer of 16 bits without a sign";
    case ValueKind::kUint32:
      return "an integer of 32 bits without a sign";
    case ValueKind::kUint64:
      return "an integer of 64 bits without a sign";
    case ValueKind::kInt128:
      return "an integer of 128 bits";
    case ValueKind::kFloat:
      return "a number of single precision";
    case ValueKind::kDouble:
      return "a number of double precision";
    case ValueKind::kText:
      return "a string";
    case ValueKind::kRecord:
      return "an object";
    case ValueKind::kArray:
      return "an array";
    case ValueKind::kOptional:
      break;
  }
  return "a value";
}

std::string WrongScalar(std::string_view name, std::string_view text, ValueKind kind) {
  return absl::StrCat("'", std::string(name), "' has ", Quoted(text), ": ", std::string(ExpectedOf(kind)),
                      " is expected");
}

}  // namespace glaive::engine
