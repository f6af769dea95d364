// PlainData: the concept of types whose values mean the same in another process, because they consist of their bytes
// alone.
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
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

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

template <typename T>
struct IsPointer : std::bool_constant<PointsElsewhere<T>> {};

/// Whether `Property` holds for a T or for a member of it, as far as the compiler shows them.
template <template <typename> typename Property, typename T>
constexpr bool HasMemberWith();

/// Whether T is a class of the standard library with members that the compiler does not show, for one of which it
/// holds.
template <template <typename> typename Property, typename T>
inline constexpr bool kMayHaveMemberWith = false;
template <template <typename> typename Property, typename T>
inline constexpr bool kMayHaveMemberWith<Property, std::optional<T>> = HasMemberWith<Property, T>();
template <template <typename> typename Property, typename... Ts>
inline constexpr bool kMayHaveMemberWith<Property, std::variant<Ts...>> = (HasMemberWith<Property, Ts>() || ...);
template <template <typename> typename Property, typename A, typename B>
inline constexpr bool kMayHaveMemberWith<Property, std::pair<A, B>> =
    HasMemberWith<Property, A>() || HasMemberWith<Property, B>();
template <template <typename> typename Property, typename... Ts>
inline constexpr bool kMayHaveMemberWith<Property, std::tuple<Ts...>> = (HasMemberWith<Property, Ts>() || ...);
template <template <typename> typename Property, typename T>
inline constexpr bool kMayHaveMemberWith<Property, std::vector<T>> = HasMemberWith<Property, T>();

/// No property.
template <typename T>
struct IsNothing : std::false_type {};

/// Stands for an initializer of any member of an Aggregate. One that has the property might throw. It is never called.
template <typename Aggregate, template <typename> typename Property>
struct AnyMember {
  template <typename Member>
    requires(!std::is_same_v<Member, Aggregate>)
  operator Member() const noexcept(!HasMemberWith<Property, Member>()) {  // NOLINT(google-explicit-constructor)
    std::abort();
  }
};

/// Whether T{...} takes `kCount` such initializers.
template <typename T, std::size_t kCount>
inline constexpr bool kTakes = []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
  return requires { T{(static_cast<void>(kIndices), AnyMember<T, IsNothing>{})...}; };
}(std::make_index_sequence<kCount>());
/// Whether it cannot throw then.
template <typename T, template <typename> typename Property, std::size_t kCount>
inline constexpr bool kCannotThrow = []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
  return requires {
    { T{(static_cast<void>(kIndices), AnyMember<T, Property>{})...} } noexcept;
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

template <template <typename> typename Property, typename T>
constexpr bool HasMemberWith() {
  constexpr bool kIsNothing = std::is_same_v<IsNothing<T>, Property<T>>;
  if constexpr (Property<T>::value || kMayHaveMemberWith<Property, T>) {
    return true;
  } else if constexpr (!kIsNothing && kIsArray<T>) {
    return HasMemberWith<Property, typename T::value_type>();  // of which there may be thousands
  } else if constexpr (!kIsNothing && std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T>) {
    constexpr std::size_t kBits = 8;  // of a byte, each of which may be a member
    constexpr std::size_t kCount = CountInitializers<T, 0, kBits * sizeof(T) + 1>();
    return kCannotThrow<T, IsNothing, kCount> && !kCannotThrow<T, Property, kCount>;
  } else {
    return false;
  }
}

/// Whether a T points elsewhere, or has a member that does, as far as the compiler shows them.
template <typename T>
constexpr bool HoldsPointers() {
  return HasMemberWith<IsPointer, T>();
}

/// See the head of this file. What has references cannot be assigned.
template <typename T>
concept PlainData = std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> && !HoldsPointers<T>();

}  // namespace glaive
