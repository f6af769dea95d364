// Records with texts: what a description of a record type is, and what the engine does by it.
//
// A record is a struct whose members are numbers, enums, Text, such structs, and std::array and std::optional of these.
// One line beside the struct, in its namespace, names its members in the order of their declaration:
//
//   struct Visit {
//     std::int64_t time_ms;
//     Text url;
//     std::optional<std::uint32_t> user;
//   };
//   GLAIVE_RECORD(Visit, time_ms, url, user)
//
// By the description the engine finds the texts of a record: it copies them, and hashes those of keys. A struct without
// texts needs none. A description that leaves out a member, or names them in another order, does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rdma/base/plain_data.h"
#include "state/record/record_macro.h"
#include "state/record/text.h"

namespace glaive {

/// A member of a described struct.
template <typename R, typename M>
struct Field {
  using Member = M;

  std::string_view name;
  M R::* member;
};

/// A member of a struct, by its type and where it lies.
template <typename M, std::size_t kOffset>
struct MemberPlace {
  static constexpr std::size_t kAt = kOffset;
  static constexpr std::size_t kSize = sizeof(M);
  static constexpr std::size_t kAlignment = alignof(M);
  /// How many initializers of its struct it takes.
  static constexpr std::size_t kInitializers = std::is_array_v<M> ? kSize / sizeof(std::remove_all_extents_t<M>) : 1;
};

/// Whether these are all members of an aggregate T: each lies where the one before it lets it, the last one ends where
/// T does, and T{...} takes no more initializers.
template <typename T, typename... Places>
inline constexpr bool kNamesAllMembers = [] {
  std::size_t end = 0;
  bool are_side_by_side = true;
  const auto place = [&](std::size_t at, std::size_t size, std::size_t alignment) {
    end = (end + alignment - 1) / alignment * alignment;
    are_side_by_side = are_side_by_side && at == end;
    end += size;
  };
  (place(Places::kAt, Places::kSize, Places::kAlignment), ...);
  place(sizeof(T), 0, alignof(T));
  return std::is_aggregate_v<T> && are_side_by_side && kTakes<T, (Places::kInitializers + ...)> &&
         !kTakes<T, (Places::kInitializers + ...) + 1>;
}();

/// Whether there is a GLAIVE_RECORD for T.
template <typename T>
concept Described = requires { DescribeRecord(std::type_identity<T>()); };

/// A std::tuple of Field.
template <Described T>
constexpr auto FieldsOf() {
  return DescribeRecord(std::type_identity<T>());
}

/// Calls `visit(name, member)` for each member of a described struct, const or not.
template <typename R, typename Visit>
  requires Described<std::remove_const_t<R>>
constexpr void ForEachField(R& record, const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field.name, record.*field.member), ...); },
             FieldsOf<std::remove_const_t<R>>());
}

/// Whether a class template of the engine says itself what its members are: their types in a std::tuple `Members`, and
/// how to visit them, by a static VisitMembers(self, visit), which calls `visit(name, member)` for each that may have
/// texts. `self` is const or not. The name is empty where only the engine has it.
template <typename T>
concept SaysItsMembers = requires { typename T::Members; };

/// Calls `visit(name, member)` for the members of a struct that is described or says them, const or not.
template <typename R, typename Visit>
  requires Described<std::remove_const_t<R>> || SaysItsMembers<std::remove_const_t<R>>
constexpr void ForEachMember(R& record, const Visit& visit) {
  if constexpr (SaysItsMembers<std::remove_const_t<R>>) {
    std::remove_const_t<R>::VisitMembers(record, visit);
  } else {
    ForEachField(record, visit);
  }
}

/// The types of a T's members in a std::tuple.
template <typename T>
struct MembersOf;
template <Described T>
struct MembersOf<T> {
  template <typename... Fields>
  static std::tuple<typename Fields::Member...> TypesOf(const std::tuple<Fields...>&);
  using Types = decltype(TypesOf(FieldsOf<T>()));
};
template <SaysItsMembers T>
struct MembersOf<T> {
  using Types = typename T::Members;
};

/// A type whose members are known.
template <typename T>
concept ShowsItsMembers = Described<T> || SaysItsMembers<T>;

/// Whether one of a T's members, of type M, has a property: `holds.operator()<M>()` says so.
template <ShowsItsMembers T, typename Holds>
constexpr bool OneMember(const Holds& holds) {
  return [&holds]<typename... Ms>(std::type_identity<std::tuple<Ms...>>) {
    return (holds.template operator()<Ms>() || ...);
  }(std::type_identity<typename MembersOf<T>::Types>());
}

template <typename T>
inline constexpr bool kHasText = false;
/// Whether a T has a Text as far as descriptions show it.
template <ShowsItsMembers T>
inline constexpr bool kHasText<T> = OneMember<T>([]<typename M>() { return kHasText<M>; });
template <>
inline constexpr bool kHasText<Text> = true;
template <typename T, std::size_t kSize>
inline constexpr bool kHasText<std::array<T, kSize>> = kHasText<T>;
template <typename T>
inline constexpr bool kHasText<std::optional<T>> = kHasText<T>;
// Results of aggregates and joins, which are no records.
template <typename T>
inline constexpr bool kHasText<std::vector<T>> = kHasText<T>;
template <typename... Ts>
inline constexpr bool kHasText<std::tuple<Ts...>> = (kHasText<Ts> || ...);

template <typename T>
inline constexpr bool kIsRecord = PlainData<T>;
/// Whether the engine can copy a T to another place or process: plain data, or texts that descriptions show.
template <ShowsItsMembers T>
  requires kHasText<T>
inline constexpr bool kIsRecord<T> = std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> &&
                                     !OneMember<T>([]<typename M>() { return !kIsRecord<M>; });
template <>
inline constexpr bool kIsRecord<Text> = true;
template <typename T, std::size_t kSize>
inline constexpr bool kIsRecord<std::array<T, kSize>> = kIsRecord<T>;
template <typename T>
inline constexpr bool kIsRecord<std::optional<T>> = kIsRecord<T>;

template <typename T>
concept RecordData = kIsRecord<T>;

template <typename T>
struct IsText : std::is_same<T, Text> {};
/// Whether a T has a Text that no description shows.
template <typename T>
inline constexpr bool kHidesText = [] {
  if constexpr (sizeof(T) < sizeof(Text)) {
    return false;
  } else {
    return HasMemberWith<IsText, T>();
  }
}();
template <ShowsItsMembers T>
inline constexpr bool kHidesText<T> = OneMember<T>([]<typename M>() { return kHidesText<M>; });
template <>
inline constexpr bool kHidesText<Text> = false;
template <typename T, std::size_t kSize>
inline constexpr bool kHidesText<std::array<T, kSize>> = kHidesText<T>;
template <typename T>
inline constexpr bool kHidesText<std::optional<T>> = kHidesText<T>;
template <typename T>
inline constexpr bool kHidesText<std::vector<T>> = kHidesText<T>;
template <typename... Ts>
inline constexpr bool kHidesText<std::tuple<Ts...>> = (kHidesText<Ts> || ...);

/// A struct with texts has a description, by which they are copied.
template <typename T>
constexpr void ExpectDescribedTexts() {
  static_assert(!kHidesText<T>,
                "glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; "
                "texts may be in structs, std::array and std::optional");
}

/// Calls `visit(text)` for each text of a value, const or not, in the order of members. Nothing for a T without texts.
template <typename T, typename Visit>
constexpr void ForEachText(T& value, const Visit& visit) {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, Text>) {
    visit(value);
  } else if constexpr (kHasText<Value>) {
    if constexpr (Described<Value> || SaysItsMembers<Value>) {
      ForEachMember(value, [&](std::string_view /*name*/, auto& member) { ForEachText(member, visit); });
    } else if constexpr (requires { value.has_value(); }) {
      if (value.has_value()) {
        ForEachText(*value, visit);
      }
    } else if constexpr (requires { value.begin(); }) {
      for (auto& each : value) {
        ForEachText(each, visit);
      }
    } else {
      std::apply([&](auto&... each) { (ForEachText(each, visit), ...); }, value);
    }
  }
}

/// The bytes that the texts of a value refer to.
template <typename T>
constexpr std::size_t TextBytes(const T& value) {
  std::size_t bytes = 0;
  ForEachText(value, [&bytes](const Text& text) { bytes += text.is_inline() ? 0 : text.size(); });
  return bytes;
}

/// Copies the bytes that the texts of a value refer to, to `to`, where TextBytes(value) have room, and makes the texts
/// refer to the copy. Returns the end of the copy.
template <typename T>
char* MoveTexts(T& value, char* to) {
  ForEachText(value, [&to](Text& text) {
    if (!text.is_inline()) {
      const std::string_view bytes = text.view();
      text = Text(std::string_view(static_cast<char*>(std::memcpy(to, bytes.data(), bytes.size())), bytes.size()));
      to += bytes.size();
    }
  });
  return to;
}

/// The longest text of a value, and which member it is: "url", or "page.url" of a struct in a struct.
struct LongestText {
  std::string member;
  std::size_t bytes = 0;
};
template <typename T>
LongestText LongestTextOf(const T& value, const std::string& name = "") {
  LongestText longest{.member = name};
  if constexpr (Described<T> || SaysItsMembers<T>) {
    ForEachMember(value, [&](std::string_view member, const auto& its) {
      LongestText other = LongestTextOf(its, name + (name.empty() || member.empty() ? "" : ".") + std::string(member));
      longest = other.bytes > longest.bytes ? std::move(other) : longest;
    });
  } else {
    ForEachText(value, [&](const Text& text) { longest.bytes = std::max<std::size_t>(longest.bytes, text.size()); });
  }
  return longest;
}

}  // namespace glaive
