#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/stack.h"

namespace glaive::engine {
namespace {

TEST(StackTest, HoldsAtLeastWhatWasAskedForAndAllOfItIsUsable) {
  for (const std::size_t size_bytes :
       {std::size_t{1}, std::size_t{16'384}, std::size_t{65'536}, std::size_t{100'001}}) {
    absl::StatusOr<Stack> stack = Stack::Map(size_bytes);
    ASSERT_TRUE(stack.ok()) << stack.status();
    EXPECT_GE(stack->size_bytes(), size_bytes);
    EXPECT_EQ(stack->top() - stack->bottom(), static_cast<std::ptrdiff_t>(stack->size_bytes()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->top()) % 4096, 0u);
    std::memset(stack->bottom(), 0x5a, stack->size_bytes());
  }
}

TEST(StackDeathTest, AWriteBelowTheStackHitsTheGuardPage) {
  absl::StatusOr<Stack> stack = Stack::Map(65'536);
  ASSERT_TRUE(stack.ok()) << stack.status();
  volatile std::byte* below = stack->bottom() - 1;
  EXPECT_DEATH(*below = std::byte{1}, "");
}

TEST(StackTest, AnAbsurdSizeIsRefusedWithTheLimit) {
  const absl::StatusOr<Stack> stack = Stack::Map(SIZE_MAX - 5);
  EXPECT_EQ(stack.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(stack.status().ToString(), testing::HasSubstr("1073741824"));
}

TEST(StackTest, MovingHandsTheMemoryOver) {
  absl::StatusOr<Stack> first = Stack::Map(65'536);
  absl::StatusOr<Stack> second = Stack::Map(65'536);
  ASSERT_TRUE(first.ok() && second.ok());
  std::byte* const bottom = second->bottom();
  *first = *std::move(second);
  EXPECT_EQ(first->bottom(), bottom);
  *first->bottom() = std::byte{1};
}

TEST(StackPoolTest, AReturnedStackIsUsedAgainBeforeAnotherIsMapped) {
  StackPool pool(65'536);
  absl::StatusOr<Stack> stack = pool.Acquire();
  ASSERT_TRUE(stack.ok()) << stack.status();
  std::byte* const bottom = stack->bottom();
  pool.Release(*std::move(stack));
  absl::StatusOr<Stack> again = pool.Acquire();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->bottom(), bottom);
  EXPECT_EQ(pool.mapped(), 1u);
  absl::StatusOr<Stack> other = pool.Acquire();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE(other->bottom(), bottom);
  EXPECT_EQ(pool.mapped(), 2u);
}

}  // namespace
}  // namespace glaive::engine
