// AppendJson: values as JSON (RFC 8259), on one line.
//
//   struct Point { std::int32_t x; std::int32_t y; };
//   struct Visit { Text url; Point at; std::array<float, 2> load; std::optional<Text> note; };
//
//   {"url":"/a\"b","at":{"x":3,"y":4},"load":[0.5,1],"note":null}
//
// Numbers are written exactly, as in CSV. JSON has neither NaN nor infinities: they are null. A text is written as the
// UTF-8 that it is; a byte that is not of UTF-8 becomes U+FFFD. An enum is its number, a std::optional without a value
// is null, and a list, an array and a tuple are arrays. JsonReader reads described structs.
//
// Another type, or one that is to look otherwise, has a function beside it:
//
//   friend void AppendJson(std::string& line, const Money& money) { absl::StrAppend(&line, "\"", money.cents, " ct\"");
//   }
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/numeric/int128.h"

#include "engine/format/number_text.h"
#include "engine/format/shape.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::engine {

/// Appends a text as a JSON string, its quotes included.
void AppendJsonText(std::string& line, std::string_view text);

inline void AppendJson(std::string& line, bool value) { line += value ? "true" : "false"; }
template <std::integral T>
  requires(!std::same_as<T, bool>)
void AppendJson(std::string& line, T value) {
  AppendNumber(line, value);
}
template <std::floating_point T>
void AppendJson(std::string& line, T value) {
  if (std::isfinite(value)) {
    AppendNumber(line, value);
  } else {
    line += "null";
  }
}
inline void AppendJson(std::string& line, absl::int128 value) { AppendNumber(line, value); }
template <typename T>
  requires std::is_enum_v<T>
void AppendJson(std::string& line, T value) {
  AppendJson(line, static_cast<std::underlying_type_t<T>>(value));
}
inline void AppendJson(std::string& line, const Text& text) { AppendJsonText(line, text.view()); }
template <typename R>
  requires(Described<R> && kHasShape<R>)
void AppendJson(std::string& line, const R& record);
template <typename T, std::size_t kSize>
void AppendJson(std::string& line, const std::array<T, kSize>& values);
template <typename T>
void AppendJson(std::string& line, const std::optional<T>& value);
template <typename T>
void AppendJson(std::string& line, const std::vector<T>& values);
template <typename... Ts>
void AppendJson(std::string& line, const std::tuple<Ts...>& values);

/// A type with an AppendJson above or beside it.
template <typename T>
concept JsonWritable = requires(std::string& line, const T& value) { AppendJson(line, value); };

template <typename R>
  requires(Described<R> && kHasShape<R>)
void AppendJson(std::string& line, const R& record) {
  char before = '{';
  ForEachField(record, [&](std::string_view name, const auto& member) {
    line += before;
    line += '"';
    line += name;
    line += "\":";
    AppendJson(line, member);
    before = ',';
  });
  line += '}';
}

template <typename Values>
void AppendJsonArray(std::string& line, const Values& values) {
  std::string_view separator;
  line += '[';
  for (const auto& value : values) {
    line += separator;
    AppendJson(line, value);
    separator = ",";
  }
  line += ']';
}

template <typename T, std::size_t kSize>
void AppendJson(std::string& line, const std::array<T, kSize>& values) {
  AppendJsonArray(line, values);
}

template <typename T>
void AppendJson(std::string& line, const std::optional<T>& value) {
  if (value) {
    AppendJson(line, *value);
  } else {
    line += "null";
  }
}

template <typename T>
void AppendJson(std::string& line, const std::vector<T>& values) {
  AppendJsonArray(line, values);
}

template <typename... Ts>
void AppendJson(std::string& line, const std::tuple<Ts...>& values) {
  std::string_view separator;
  line += '[';
  std::apply([&](const Ts&... value) { ((line += separator, AppendJson(line, value), separator = ","), ...); }, values);
  line += ']';
}

}  // namespace glaive::engine
