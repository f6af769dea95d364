#include "engine/format/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "engine/format/scalar_text.h"

namespace glaive::engine {

namespace ondemand = simdjson::ondemand;

struct JsonReader::Parser {
  ondemand::parser parser;
};

namespace {

static_assert(JsonReader::kPaddingBytes >= simdjson::SIMDJSON_PADDING);

/// GLAIVE_RECORD takes fewer.
constexpr std::size_t kMostMembers = 512;

std::size_t Digits(std::string_view text, std::size_t from) {
  return std::min(text.find_first_not_of("0123456789", from), text.size()) - from;
}

/// RFC 8259, section 6.
bool IsJsonNumber(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = Digits(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) {
    return false;
  }
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = Digits(text, at + 1);
    if (fraction == 0) {
      return false;
    }
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at += at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
    const std::size_t exponent = Digits(text, at);
    if (exponent == 0) {
      return false;
    }
    at += exponent;
  }
  return at == text.size();
}

/// Where a text ceases to be JSON, as a column; 1 if it does not.
class WrongByte : public nlohmann::json_sax<nlohmann::json> {
 public:
  static std::size_t ColumnIn(std::string_view line) {
    WrongByte handler;
    nlohmann::json::sax_parse(line, &handler);
    return std::clamp<std::size_t>(handler.column_, 1, line.size() + 1);
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*e*/) override {
    column_ = position;
    return false;
  }

 private:
  std::size_t column_ = 1;
};

/// A member's name behind those of the objects that it is in.
struct Path {
  const Path* outer;
  std::string_view name;

  std::string ToString() const {
    return outer == nullptr ? std::string(name) : absl::StrCat(outer->ToString(), ".", std::string(name));
  }
};

/// The reading of one line.
class LineOfJson {
 public:
  LineOfJson(std::string_view line, state::TextArena& texts, ParseError& error)
      : line_(line), texts_(&texts), error_(&error) {}

  bool Read(ondemand::parser& parser, const Shape& shape, void* record) {
    ondemand::document document;
    ondemand::object object;
    if (!Take(parser.iterate(line_.data(), line_.size(), line_.size() + JsonReader::kPaddingBytes), document)) {
      return false;
    }
    if (std::string_view start = Trimmed(line_); !start.starts_with('{')) {
      return Fail(ColumnOf(start), "an object is expected: {\"name\":value,...}");
    }
    if (!Take(document.get_object(), object) || !ReadObject(object, 1, shape, record, nullptr)) {
      return false;
    }
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS || Invalid(simdjson::TRAILING_CONTENT);
  }

 private:
  static std::string_view Trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    return text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin);
  }

  std::size_t ColumnOf(std::string_view part) const { return static_cast<std::size_t>(part.data() - line_.data()) + 1; }

  bool Fail(std::size_t column, std::string reason) {
    error_->At(column, std::move(reason));
    return false;
  }
  bool Invalid(simdjson::error_code code) {
    return Fail(WrongByte::ColumnIn(line_), absl::StrCat("no valid JSON: ", simdjson::error_message(code)));
  }
  template <typename Result, typename T>
  bool Take(Result result, T& into) {
    const simdjson::error_code code = std::move(result).get(into);
    return code == simdjson::SUCCESS || Invalid(code);
  }

  bool ReadObject(ondemand::object object, std::size_t column, const Shape& shape, void* record, const Path* path) {
    std::bitset<kMostMembers> there;
    std::size_t next = 0;  // members mostly come in the order of their declaration
    for (auto entry : object) {
      ondemand::field field;
      if (!Take(entry, field)) {
        return false;
      }
      const char* const raw_key = field.key().raw();
      std::string_view name;
      if (!Take(field.unescaped_key(), name)) {
        return false;
      }
      const std::size_t index = FindMember(shape, name, next);
      if (index == shape.members.size()) {
        if (!PassOver(field.value(), 1)) {
          return false;
        }
        continue;
      }
      next = index + 1;
      const Member& member = shape.members[index];
      const Path inner{.outer = path, .name = member.name};
      if (there.test(index)) {
        return Fail(static_cast<std::size_t>(raw_key - line_.data()),
                    absl::StrCat("'", inner.ToString(), "' is there twice"));
      }
      there.set(index);
      if (!ReadValue(field.value(), shape.inner[index], static_cast<char*>(record) + member.offset_bytes, inner)) {
        return false;
      }
    }
    return AllThere(there, column, shape, record, path);
  }

  static std::size_t FindMember(const Shape& shape, std::string_view name, std::size_t next) {
    if (next < shape.members.size() && shape.members[next].name == name) {
      return next;
    }
    const auto found = std::ranges::find(shape.members, name, &Member::name);
    return static_cast<std::size_t>(found - shape.members.begin());
  }

  bool AllThere(const std::bitset<kMostMembers>& there, std::size_t column, const Shape& shape, void* record,
                const Path* path) {
    for (std::size_t i = 0; i < shape.members.size(); ++i) {
      const Member& member = shape.members[i];
      if (there.test(i)) {
        continue;
      }
      if (shape.inner[i].kind != ValueKind::kOptional) {
        return Fail(column, absl::StrCat("the object lacks '", Path{.outer = path, .name = member.name}.ToString(),
                                         "', and the member is no std::optional"));
      }
      shape.inner[i].optional->reset(static_cast<char*>(record) + member.offset_bytes);
    }
    return true;
  }

  bool ReadValue(ondemand::value value, const Shape& shape, void* into, const Path& path) {
    const std::string_view token = Trimmed(value.raw_json_token());
    switch (shape.kind) {
      case ValueKind::kOptional:
        if (token == "null") {
          shape.optional->reset(into);
          return true;
        }
        return ReadValue(value, shape.inner.front(), shape.optional->emplace(into), path);
      case ValueKind::kRecord: {
        ondemand::object object;
        return token.starts_with('{')
                   ? Take(value.get_object(), object) && ReadObject(object, ColumnOf(token), shape, into, &path)
                   : Wrong(token, shape, path);
      }
      case ValueKind::kArray: {
        ondemand::array array;
        return token.starts_with('[')
                   ? Take(value.get_array(), array) && ReadArray(array, ColumnOf(token), shape, into, path)
                   : Wrong(token, shape, path);
      }
      case ValueKind::kText:
        return token.starts_with('"') ? ReadText(value, token, into) : Wrong(token, shape, path);
      case ValueKind::kBool:
        return (token == "true" || token == "false") && ReadScalar(shape.kind, token, into) ? true
                                                                                            : Wrong(token, shape, path);
      default:
        return IsJsonNumber(token) && ReadScalar(shape.kind, token, into) ? true : Wrong(token, shape, path);
    }
  }

  bool ReadArray(ondemand::array array, std::size_t column, const Shape& shape, void* into, const Path& path) {
    std::size_t count = 0;
    for (auto entry : array) {
      ondemand::value value;
      if (!Take(entry, value)) {
        return false;
      }
      if (count == shape.count) {
        return Fail(column, absl::StrCat("'", path.ToString(), "' has more than ", shape.count, " elements"));
      }
      void* const element = static_cast<char*>(into) + count * shape.stride_bytes;
      if (!ReadValue(value, shape.inner.front(), element, path)) {
        return false;
      }
      ++count;
    }
    return count == shape.count ||
           Fail(column, absl::StrCat("'", path.ToString(), "' has ", count, " elements, not ", shape.count));
  }

  bool ReadText(ondemand::value value, std::string_view token, void* into) {
    if (token.find('\\') != std::string_view::npos) {
      std::string_view text;
      if (!Take(value.get_string(), text)) {
        return false;
      }
      *static_cast<Text*>(into) = texts_->Own(Text(text));
      return true;
    }
    ondemand::raw_json_string raw;
    if (!Take(value.get_raw_json_string(), raw)) {
      return false;
    }
    const auto length = static_cast<std::size_t>(token.data() + token.rfind('"') - raw.raw());
    *static_cast<Text*>(into) = Text(std::string_view(raw.raw(), length));
    return true;
  }

  /// A value that is none of the shape, or no JSON.
  bool Wrong(std::string_view token, const Shape& shape, const Path& path) {
    const bool is_json = token.starts_with('{') || token.starts_with('[') || token.starts_with('"') ||
                         token == "null" || token == "true" || token == "false" || IsJsonNumber(token);
    return Fail(ColumnOf(token),
                is_json ? WrongScalar(path.ToString(), token, shape.kind)
                        : absl::StrCat("'", path.ToString(), "' has ", Quoted(token), ", which is no JSON"));
  }

  /// Checks a value that the record does not have.
  bool PassOver(ondemand::value value, int depth) {
    const std::string_view token = Trimmed(value.raw_json_token());
    if (depth > JsonReader::kMostNested) {
      return Fail(ColumnOf(token), absl::StrCat("more than ", JsonReader::kMostNested, " values inside each other"));
    }
    if (token.starts_with('{')) {
      ondemand::object object;
      return Take(value.get_object(), object) && PassOverObject(object, depth);
    }
    if (token.starts_with('[')) {
      ondemand::array array;
      return Take(value.get_array(), array) && PassOverArray(array, depth);
    }
    if (token.starts_with('"')) {
      std::string_view text;
      return Take(value.get_string(), text);
    }
    return token == "null" || token == "true" || token == "false" || IsJsonNumber(token) ||
           Fail(ColumnOf(token), absl::StrCat(Quoted(token), " is no JSON"));
  }

  bool PassOverObject(ondemand::object object, int depth) {
    for (auto entry : object) {
      ondemand::field field;
      std::string_view name;
      if (!Take(entry, field) || !Take(field.unescaped_key(), name) || !PassOver(field.value(), depth + 1)) {
        return false;
      }
    }
    return true;
  }

  bool PassOverArray(ondemand::array array, int depth) {
    for (auto entry : array) {
      ondemand::value value;
      if (!Take(entry, value) || !PassOver(value, depth + 1)) {
        return false;
      }
    }
    return true;
  }

  std::string_view line_;
  state::TextArena* texts_;
  ParseError* error_;
};

}  // namespace

JsonReader::JsonReader(Shape shape) : shape_(std::move(shape)), parser_(std::make_unique<Parser>()) {}
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader::~JsonReader() = default;

Parsed JsonReader::Read(std::string_view line, void* record, state::TextArena& texts, ParseError& error) {
  ondemand::parser& parser = parser_->parser;
  if (line.size() > parser.capacity()) {
    constexpr std::size_t kLeastCapacity = std::size_t{1} << 12;
    if (parser.allocate(std::bit_ceil(std::max(line.size(), kLeastCapacity))) != simdjson::SUCCESS) {
      return error.At(1, "no memory to parse the line");
    }
  }
  return LineOfJson(line, texts, error).Read(parser, shape_, record) ? Parsed::kRecord : Parsed::kBad;
}

}  // namespace glaive::engine
