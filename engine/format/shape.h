// Shape: the layout of a described record in memory, for code that is compiled once and not for each type.
//
//   struct Visit { std::int64_t time_ms; Text url; std::optional<std::uint32_t> user; };
//   GLAIVE_RECORD(Visit, time_ms, url, user)
//
//   ShapeOf<Visit>()   kRecord   time_ms at 0: kInt64 | url at 8: kText | user at 24: kOptional of kUint32
//
// The readers of CSV and JSON write through a Shape into a record. A file's field can be a bool, an integer, an enum
// (its number), absl::int128, a float or a double, a Text, a described struct, and a std::array or std::optional of
// these.
//
//   const Shape shape = ShapeOf<Visit>();
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/numeric/int128.h"

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::engine {

enum class ValueKind : std::uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt128,
  kFloat,
  kDouble,
  kText,
  kRecord,
  kArray,
  kOptional,
};

/// How a std::optional is changed without its type.
struct OptionalAccess {
  void* (*emplace)(void* optional);  // returns the value's address
  void (*reset)(void* optional);
};

struct Member {
  std::string_view name;
  std::size_t offset_bytes;
};

struct Shape {
  ValueKind kind = ValueKind::kBool;
  std::vector<Member> members = {};  // of a kRecord, in the order of their declaration
  /// Of a kRecord: those of its members. Of a kArray or kOptional: one, of the elements or the value.
  std::vector<Shape> inner = {};
  std::size_t count = 0;                     // of a kArray: its elements
  std::size_t stride_bytes = 0;              // of a kArray: from an element to the next
  const OptionalAccess* optional = nullptr;  // of a kOptional
};

/// Whether a T is one value of text: a number, an enum, a bool or a Text. A char is none: texts are Text.
template <typename T>
inline constexpr bool kIsScalar =
    std::same_as<T, Text> || std::same_as<T, absl::int128> || std::same_as<T, float> || std::same_as<T, double> ||
    std::is_enum_v<T> ||
    (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;

template <typename T>
inline constexpr bool kIsStdOptional = false;
template <typename T>
inline constexpr bool kIsStdOptional<std::optional<T>> = true;

/// Whether a T can be read from a file and written to one by its description.
template <typename T>
inline constexpr bool kHasShape = [] {
  if constexpr (Described<T>) {
    return std::is_default_constructible_v<T> &&
           std::apply(
               [](const auto&... field) {
                 return (kHasShape<typename std::remove_cvref_t<decltype(field)>::Member> && ...);
               },
               FieldsOf<T>());
  } else if constexpr (kIsArray<T> || kIsStdOptional<T>) {
    return kHasShape<typename T::value_type>;
  } else {
    return kIsScalar<T>;
  }
}();

/// Whether the optional ones of a T's members, at any depth, are scalars. Only such a T fits one CSV row.
template <typename T>
inline constexpr bool kIsFlat = [] {
  if constexpr (Described<T>) {
    return std::apply(
        [](const auto&... field) { return (kIsFlat<typename std::remove_cvref_t<decltype(field)>::Member> && ...); },
        FieldsOf<T>());
  } else if constexpr (kIsArray<T>) {
    return kIsFlat<typename T::value_type>;
  } else if constexpr (kIsStdOptional<T>) {
    return kIsScalar<typename T::value_type>;
  } else {
    return true;
  }
}();

/// Whether a T is a Text and nothing else, perhaps inside of described structs and arrays.
template <typename T>
inline constexpr bool kIsOneText = [] {
  if constexpr (Described<T>) {
    return std::apply(
        [](const auto&... field) {
          return sizeof...(field) == 1 && (kIsOneText<typename std::remove_cvref_t<decltype(field)>::Member> && ...);
        },
        FieldsOf<T>());
  } else if constexpr (kIsArray<T>) {
    return std::tuple_size_v<T> == 1 && kIsOneText<typename T::value_type>;
  } else {
    return std::same_as<T, Text>;
  }
}();

template <typename T>
inline constexpr OptionalAccess kAccessTo = {
    .emplace = [](void* optional) -> void* { return &static_cast<std::optional<T>*>(optional)->emplace(); },
    .reset = [](void* optional) { static_cast<std::optional<T>*>(optional)->reset(); }};

template <typename T>
consteval ValueKind IntegerKind() {
  if constexpr (std::same_as<T, bool>) {
    return ValueKind::kBool;
  } else {
    constexpr bool kSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return kSigned ? ValueKind::kInt8 : ValueKind::kUint8;
      case 2:
        return kSigned ? ValueKind::kInt16 : ValueKind::kUint16;
      case 4:
        return kSigned ? ValueKind::kInt32 : ValueKind::kUint32;
      default:
        return kSigned ? ValueKind::kInt64 : ValueKind::kUint64;
    }
  }
}

template <typename T>
  requires kHasShape<T>
Shape ShapeOf() {
  if constexpr (Described<T>) {
    Shape shape{.kind = ValueKind::kRecord};
    const T record{};
    ForEachField(record, [&]<typename M>(std::string_view name, const M& member) {
      const auto offset = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&record);
      shape.members.push_back({.name = name, .offset_bytes = static_cast<std::size_t>(offset)});
      shape.inner.push_back(ShapeOf<M>());
    });
    return shape;
  } else if constexpr (kIsArray<T>) {
    using Element = typename T::value_type;
    return {.kind = ValueKind::kArray,
            .inner = {ShapeOf<Element>()},
            .count = std::tuple_size_v<T>,
            .stride_bytes = sizeof(Element)};
  } else if constexpr (kIsStdOptional<T>) {
    using Value = typename T::value_type;
    return {.kind = ValueKind::kOptional, .inner = {ShapeOf<Value>()}, .optional = &kAccessTo<Value>};
  } else if constexpr (std::same_as<T, Text>) {
    return {.kind = ValueKind::kText};
  } else if constexpr (std::same_as<T, absl::int128>) {
    return {.kind = ValueKind::kInt128};
  } else if constexpr (std::floating_point<T>) {
    return {.kind = std::same_as<T, float> ? ValueKind::kFloat : ValueKind::kDouble};
  } else if constexpr (std::is_enum_v<T>) {
    return {.kind = IntegerKind<std::underlying_type_t<T>>()};
  } else {
    return {.kind = IntegerKind<T>()};
  }
}

}  // namespace glaive::engine
