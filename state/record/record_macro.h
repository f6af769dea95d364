// GLAIVE_RECORD: describes the members of a struct; see record.h.
#pragma once

// A macro that names itself is expanded again only when the text is scanned again. GLAIVE_SCAN scans it some 250 times,
// so that many members can be visited.
#define GLAIVE_SCAN(...) GLAIVE_SCAN_4(GLAIVE_SCAN_4(GLAIVE_SCAN_4(__VA_ARGS__)))
#define GLAIVE_SCAN_4(...) GLAIVE_SCAN_3(GLAIVE_SCAN_3(GLAIVE_SCAN_3(GLAIVE_SCAN_3(__VA_ARGS__))))
#define GLAIVE_SCAN_3(...) GLAIVE_SCAN_2(GLAIVE_SCAN_2(GLAIVE_SCAN_2(GLAIVE_SCAN_2(__VA_ARGS__))))
#define GLAIVE_SCAN_2(...) GLAIVE_SCAN_1(GLAIVE_SCAN_1(GLAIVE_SCAN_1(GLAIVE_SCAN_1(__VA_ARGS__))))
#define GLAIVE_SCAN_1(...) __VA_ARGS__
#define GLAIVE_PARENTHESES ()

#define GLAIVE_FIELDS(type, member, ...) \
  ::glaive::Field{#member, &type::member} __VA_OPT__(, GLAIVE_MORE_FIELDS GLAIVE_PARENTHESES(type, __VA_ARGS__))
#define GLAIVE_MORE_FIELDS() GLAIVE_FIELDS

#define GLAIVE_PLACES(type, member, ...)                                            \
  ::glaive::MemberPlace<decltype(type::member), offsetof(type, member)> __VA_OPT__( \
      , GLAIVE_MORE_PLACES GLAIVE_PARENTHESES(type, __VA_ARGS__))
#define GLAIVE_MORE_PLACES() GLAIVE_PLACES

/// Describes `type`, a struct of this namespace, by its members in the order of their declaration.
#define GLAIVE_RECORD(type, ...)                                                                   \
  [[maybe_unused]] constexpr auto DescribeRecord(std::type_identity<type>) {                       \
    static_assert(::glaive::kNamesAllMembers<type, GLAIVE_SCAN(GLAIVE_PLACES(type, __VA_ARGS__))>, \
                  "glaive: GLAIVE_RECORD(" #type                                                   \
                  ", ...) names all members of the struct, in the order in which it "              \
                  "declares them");                                                                \
    return std::tuple{GLAIVE_SCAN(GLAIVE_FIELDS(type, __VA_ARGS__))};                              \
  }
