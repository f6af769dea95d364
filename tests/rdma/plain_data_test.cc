#include "rdma/base/plain_data.h"

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <typeindex>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include <gtest/gtest.h>

namespace glaive {
namespace {

struct Point {
  std::uint64_t x;
  std::int32_t y[3];
};
struct Bits {
  unsigned low : 3;
  unsigned high : 5;
  bool set;
};
struct Derived : Point {
  double z = 1;
};
struct Nested {
  [[no_unique_address]] Derived derived;
  std::array<Point, 2> points;
  char text[40];
};
struct [[gnu::packed]] Packed {
  char kind;
  std::uint64_t id;
};
struct Maybe {
  std::optional<int> number;
  std::uint64_t id;
};
struct Variant {
  std::variant<int, float> number;
  std::uint64_t id;
};
union Either {
  std::uint32_t whole;
  float fraction;
};

struct Pointer {
  std::uint64_t size;
  const char* data;
};
struct PointerInside {
  char text[40];
  Pointer pointer;
};
struct PointersInAnArray {
  Pointer of_each[2];
};
struct PointerInABase : Pointer {
  int z;
};
struct View {
  std::string_view text;
};
struct Span {
  std::span<int> numbers;
};
struct Callback {
  int (*call)(int);
};
struct Position {
  std::vector<int>::iterator at;
};
struct Wrapper {
  std::reference_wrapper<int> number;
};
struct List {
  std::initializer_list<int> numbers;
};
struct Type {
  std::type_index type;
};
struct Handle {
  std::coroutine_handle<> suspended;
};
struct PointerAtTimes {
  std::optional<const char*> text;
};
struct PointerBehindAnOptional {
  std::optional<int> number;
  const char* text;
};
struct PointerOrNumber {
  std::uint64_t id;
  std::variant<int, std::optional<Pointer>> value;
};
struct Reference {
  const std::array<int, 4>& numbers;
};

class Hidden {
 private:
  [[maybe_unused]] const char* data_ = nullptr;
};
struct Constructed {
  explicit Constructed(const char* text) : data(text) {}
  const char* data;
};
union Overlaid {
  std::uint64_t number;
  const char* text;
};

TEST(PlainData, IsWhatMeansTheSameInAnotherProcess) {
  EXPECT_TRUE((PlainData<int> && PlainData<double> && PlainData<std::byte> && PlainData<Either>));
  EXPECT_TRUE((PlainData<Point> && PlainData<Bits> && PlainData<Derived> && PlainData<Nested> && PlainData<Packed> &&
               PlainData<Maybe> && PlainData<Variant>));
  EXPECT_TRUE((PlainData<std::array<char, 4096>> && PlainData<std::array<Nested, 2>> && PlainData<std::optional<int>> &&
               PlainData<std::variant<int, Point>>));
}

TEST(PlainData, HasNoOwnersOfMemory) {
  EXPECT_FALSE(PlainData<std::string>);
  EXPECT_FALSE(PlainData<std::vector<int>>);
}

TEST(PlainData, HasNoPointersOfAnyKind) {
  EXPECT_FALSE((PlainData<const char*> || PlainData<void*> || PlainData<int (*)(int)> || PlainData<int Point::*>));
  EXPECT_FALSE((PlainData<std::string_view> || PlainData<std::span<int>> || PlainData<std::vector<int>::iterator> ||
                PlainData<std::reference_wrapper<int>> || PlainData<std::initializer_list<int>> ||
                PlainData<std::type_index> || PlainData<std::coroutine_handle<>> ||
                PlainData<std::coroutine_handle<int>>));
  EXPECT_FALSE((PlainData<std::error_code> || PlainData<std::error_condition> || PlainData<std::source_location> ||
                PlainData<absl::Span<int>>));
}

TEST(PlainData, HasNoMembersThatArePointers) {
  EXPECT_FALSE((PlainData<Pointer> || PlainData<PointerInside> || PlainData<PointersInAnArray> ||
                PlainData<PointerInABase> || PlainData<std::array<const char*, 2>> || PlainData<std::array<View, 2>>));
  EXPECT_FALSE((PlainData<View> || PlainData<Span> || PlainData<Callback> || PlainData<Position> ||
                PlainData<Wrapper> || PlainData<List> || PlainData<Type> || PlainData<Handle> || PlainData<Reference>));
}

TEST(PlainData, IsNothingThatIsAPointerAtTimes) {
  EXPECT_FALSE((PlainData<std::optional<const char*>> || PlainData<std::optional<std::optional<View>>> ||
                PlainData<std::variant<int, const char*>> || PlainData<std::variant<std::monostate, Pointer>>));
  EXPECT_FALSE((PlainData<PointerAtTimes> || PlainData<PointerBehindAnOptional> || PlainData<PointerOrNumber>));
}

// docs/writing-queries.md tells users.
TEST(PlainData, CannotSeePrivateMembersNorThoseOfClassesWithConstructorsAndOfUnions) {
  EXPECT_TRUE((PlainData<Hidden> && PlainData<Constructed> && PlainData<Overlaid>));
}

}  // namespace
}  // namespace glaive
