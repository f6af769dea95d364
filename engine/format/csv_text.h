// AppendCsvValue: values as fields of a CSV line (RFC 4180), and AddCsvNames, the names of these fields.
//
//   struct Point { std::int32_t x; std::int32_t y; };
//   struct Visit { Text url; Point at; std::array<float, 2> load; std::optional<Text> note; };
//
//   url,at.x,at.y,load_1,load_2,note
//   "/a,b",3,4,0.5,1,                     without a note
//   /c,3,4,0.5,1,""                       with an empty one
//
// Numbers are written exactly: integers in full, floating-point values with the fewest digits that read back as the
// same value. A bool is true or false, an enum is its number. A text has quotes around it if it
// needs them. CsvReader reads the same.
//
// A std::optional without a value leaves its fields empty. A list is one field, its elements separated by spaces. A
// tuple is several fields.
//
// Another type, or one that is to look otherwise, has a function beside it, and perhaps kCsvFields:
//
//   friend void AppendCsv(std::string& line, const Bid& bid) { absl::StrAppend(&line, bid.auction, ",", bid.price); }
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

#include "engine/format/number_text.h"
#include "engine/format/shape.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::engine {

/// Appends a text as one field: in quotes if it has a comma, a quote or a line break.
void AppendCsvText(std::string& line, std::string_view text);
/// In quotes in any case.
void AppendQuotedCsv(std::string& line, std::string_view text);

namespace own_csv {

void AppendCsv() = delete;  // so that only functions beside a type are found

template <typename T>
concept Writable = requires(std::string& line, const T& value) { AppendCsv(line, value); };

}  // namespace own_csv

/// Whether a type has an AppendCsv beside it.
template <typename T>
inline constexpr bool kHasOwnCsv = (std::is_class_v<T> || std::is_enum_v<T>) && own_csv::Writable<T>;

inline void AppendCsv(std::string& line, bool value) { line += value ? "true" : "false"; }
template <std::integral T>
  requires(!std::same_as<T, bool>)
void AppendCsv(std::string& line, T value) {
  AppendNumber(line, value);
}
template <std::floating_point T>
void AppendCsv(std::string& line, T value) {
  AppendNumber(line, value);
}
inline void AppendCsv(std::string& line, absl::int128 value) { AppendNumber(line, value); }
template <typename T>
  requires std::is_enum_v<T>
void AppendCsv(std::string& line, T value) {
  AppendNumber(line, static_cast<std::underlying_type_t<T>>(value));
}
inline void AppendCsv(std::string& line, const Text& text) { AppendCsvText(line, text.view()); }
template <typename T, std::size_t kSize>
void AppendCsv(std::string& line, const std::array<T, kSize>& values);
template <typename T>
void AppendCsv(std::string& line, const std::optional<T>& value);
template <typename T>
void AppendCsv(std::string& line, const std::vector<T>& values);
template <typename... Ts>
void AppendCsv(std::string& line, const std::tuple<Ts...>& fields);

/// A type with a description, or with an AppendCsv above or beside it.
template <typename T>
concept CsvWritable =
    (Described<T> && kHasShape<T>) || requires(std::string& line, const T& value) { AppendCsv(line, value); };

/// Appends any value: by the AppendCsv beside its type, or else by its description. Described structs have no AppendCsv
/// here, where that of a type of this namespace would be taken for its own.
template <CsvWritable T>
void AppendCsvValue(std::string& line, const T& value);

/// How many fields a value takes.
template <typename T>
inline constexpr std::size_t kCsvFields = [] {
  if constexpr (Described<T> && !kHasOwnCsv<T>) {
    return std::apply(
        [](const auto&... field) { return (kCsvFields<typename std::remove_cvref_t<decltype(field)>::Member> + ...); },
        FieldsOf<T>());
  } else {
    return std::size_t{1};
  }
}();
template <typename T, std::size_t kSize>
inline constexpr std::size_t kCsvFields<std::array<T, kSize>> = kSize * kCsvFields<T>;
template <typename T>
inline constexpr std::size_t kCsvFields<std::optional<T>> = kCsvFields<T>;
template <typename... Ts>
inline constexpr std::size_t kCsvFields<std::tuple<Ts...>> = (kCsvFields<Ts> + ...);

template <CsvWritable T>
void AppendCsvValue(std::string& line, const T& value) {
  if constexpr (Described<T> && !kHasOwnCsv<T>) {
    std::string_view separator;
    ForEachField(value, [&](std::string_view /*name*/, const auto& member) {
      line += separator;
      AppendCsvValue(line, member);
      separator = ",";
    });
  } else {
    AppendCsv(line, value);
  }
}

template <typename T, std::size_t kSize>
void AppendCsv(std::string& line, const std::array<T, kSize>& values) {
  std::string_view separator;
  for (const T& value : values) {
    line += separator;
    AppendCsvValue(line, value);
    separator = ",";
  }
}

template <typename T>
void AppendCsv(std::string& line, const std::optional<T>& value) {
  if (!value) {
    line.append(kCsvFields<T> - 1, ',');
    return;
  }
  if constexpr (std::same_as<T, Text>) {
    if (value->empty()) {  // without quotes there would be none
      AppendQuotedCsv(line, "");
      return;
    }
  }
  AppendCsvValue(line, *value);
}

/// As one field, its elements separated by spaces.
template <typename T>
void AppendCsv(std::string& line, const std::vector<T>& values) {
  std::string list;
  std::string_view separator;
  for (const T& value : values) {
    list += separator;
    if constexpr (std::same_as<T, Text>) {
      list += value.view();
    } else {
      AppendCsvValue(list, value);
    }
    separator = " ";
  }
  AppendCsvText(line, list);
}

/// As several fields.
template <typename... Ts>
void AppendCsv(std::string& line, const std::tuple<Ts...>& fields) {
  std::size_t index = 0;
  std::apply([&](const Ts&... field) { ((line += index++ == 0 ? "" : ",", AppendCsvValue(line, field)), ...); },
             fields);
}

/// Appends the names of a T's fields, for a value `name`: "at" is "at.x", "at.y" for a described struct, and "at_1",
/// "at_2" for an array, a tuple and the fields of a type with an AppendCsv of its own. The fields of tuples inside each
/// other are numbered through. A described struct without a name has the names of its members.
template <typename T>
void AddCsvNames(std::vector<std::string>& names, const std::string& name);

/// The names of a tuple's element, or of any other value; `index` counts those before it.
template <typename T>
void AddCsvElementNames(std::vector<std::string>& names, const std::string& name, std::size_t& index) {
  if constexpr (kIsStdOptional<T>) {
    AddCsvElementNames<typename T::value_type>(names, name, index);
  } else if constexpr (requires { std::tuple_size<T>::value; } && !kIsArray<T>) {
    [&]<std::size_t... kIndexes>(std::index_sequence<kIndexes...>) {
      (AddCsvElementNames<std::tuple_element_t<kIndexes, T>>(names, name, index), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (kIsArray<T> || (Described<T> && !kHasOwnCsv<T>)) {
    AddCsvNames<T>(names, absl::StrCat(name, "_", ++index));
  } else {
    for (std::size_t i = 0; i < kCsvFields<T>; ++i) {
      names.push_back(absl::StrCat(name, "_", ++index));
    }
  }
}

template <typename T>
void AddCsvNames(std::vector<std::string>& names, const std::string& name) {
  if constexpr (kIsStdOptional<T>) {
    AddCsvNames<typename T::value_type>(names, name);
  } else if constexpr (Described<T> && !kHasOwnCsv<T>) {
    const std::string before = name.empty() ? "" : name + ".";
    std::apply(
        [&](const auto&... field) {
          (AddCsvNames<typename std::remove_cvref_t<decltype(field)>::Member>(names, before + std::string(field.name)),
           ...);
        },
        FieldsOf<T>());
  } else if constexpr (kIsArray<T>) {
    for (std::size_t i = 1; i <= std::tuple_size_v<T>; ++i) {
      AddCsvNames<typename T::value_type>(names, absl::StrCat(name, "_", i));
    }
  } else if constexpr (kCsvFields<T> == 1) {
    names.push_back(name);
  } else {
    std::size_t index = 0;
    AddCsvElementNames<T>(names, name, index);
  }
}

}  // namespace glaive::engine
