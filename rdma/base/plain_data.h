// PlainData: types whose values mean the same in another process, since their bytes are all there is to them.
//
// Pointers are found where the compiler shows them: in the type itself, in the members of aggregates, arrays and nested
// ones included, and in the types that an optional or a variant may have. Members of a union, and of another class with
// constructors or private data, are not shown, nor are addresses that are stored as integers.
//
//   static_assert(PlainData<std::array<char, 16>> && !PlainData<std::string> && !PlainData<std::string_view>);
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <source_location>
#include <span>  // with enable_borrowed_range; all of <ranges> would take half a second to compile
#include <system_error>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>

#include "absl/types/span.h"

namespace glaive {

/// Classes of libraries that hide a pointer, and are neither iterators nor borrowed ranges.
template <typename T>
inline constexpr bool kHidesPointer =
    std::is_same_v<T, std::type_index> || std::is_same_v<T, std::error_code> ||
    std::is_same_v<T, std::error_condition> || std::is_same_v<T, std::source_location>;
template <typename T>
inline constexpr bool kHidesPointer<absl::Span<T>> = true;
template <typename T>
inline constexpr bool kHidesPointer<std::reference_wrapper<T>> = true;
template <typename T>
inline constexpr bool kHidesPointer<std::initializer_list<T>> = true;
template <typename Promise>
inline constexpr bool kHidesPointer<std::coroutine_handle<Promise>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;

/// Types that say where a value is instead of having it: pointers, iterators, views like std::string_view and
/// std::span.
template <typename T>
concept PointsElsewhere = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::input_or_output_iterator<T> ||
                          std::ranges::enable_borrowed_range<T> || kHidesPointer<T>;

/// Whether a T points elsewhere, or has a member that does, as far as the compiler shows them.
template <typename T>
constexpr bool HoldsPointers();

/// Whether T is a class of the standard library that may have one of several values, and one of those holds pointers.
template <typename T>
inline constexpr bool kMayHoldPointers = false;
template <typename T>
inline constexpr bool kMayHoldPointers<std::optional<T>> = HoldsPointers<T>();
template <typename... Ts>
inline constexpr bool kMayHoldPointers<std::variant<Ts...>> = (HoldsPointers<Ts>() || ...);

/// Stands for an initializer of any member of an Aggregate. If it `kTells`, one that holds pointers might throw. It is
/// never called.
template <typename Aggregate, bool kTells>
struct AnyMember {
  template <typename Member>
    requires(!std::is_same_v<Member, Aggregate>)
  operator Member() const noexcept(!kTells || !HoldsPointers<Member>()) {  // NOLINT(google-explicit-constructor)
    std::abort();
  }
};

/// Whether T{...} takes `kCount` such initializers.
template <typename T, std::size_t kCount>
inline constexpr bool kTakes = []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
  return requires { T{(static_cast<void>(kIndices), AnyMember<T, false>{})...}; };
}(std::make_index_sequence<kCount>());
/// Whether it cannot throw then.
template <typename T, bool kTells, std::size_t kCount>
inline constexpr bool kCannotThrow = []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
  return requires {
    { T{(static_cast<void>(kIndices), AnyMember<T, kTells>{})...} } noexcept;
  };
}(std::make_index_sequence<kCount>());

/// How many initializers an aggregate takes, those of arrays' elements included; it takes `kLeast` and not `kMost`.
template <typename T, std::size_t kLeast, std::size_t kMost>
constexpr std::size_t CountInitializers() {
  constexpr std::size_t kMiddle = kLeast + (kMost - kLeast) / 2;
  if constexpr (kMiddle == kLeast) {
    return kLeast;
  } else if constexpr (kTakes<T, kMiddle>) {
    return CountInitializers<T, kMiddle, kMost>();
  } else {
    return CountInitializers<T, kLeast, kMiddle>();
  }
}

template <typename T>
constexpr bool HoldsPointers() {
  if constexpr (PointsElsewhere<T> || kMayHoldPointers<T>) {
    return true;
  } else if constexpr (kIsArray<T>) {
    return HoldsPointers<typename T::value_type>();  // of which there may be thousands
  } else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T>) {
    constexpr std::size_t kBits = 8;  // of a byte, each of which may be a member
    constexpr std::size_t kCount = CountInitializers<T, 0, kBits * sizeof(T) + 1>();
    return kCannotThrow<T, false, kCount> && !kCannotThrow<T, true, kCount>;
  } else {
    return false;
  }
}

/// See the head of this file. What has references cannot be assigned.
template <typename T>
concept PlainData = std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> && !HoldsPointers<T>();

}  // namespace glaive
