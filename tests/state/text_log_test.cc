// TextLog: what it owns, how much memory it takes for keys of which most are known, and that it gives all back.

#include "state/log/text_log.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

struct Item {
  Text key;
};

static_assert(std::is_empty_v<TextLog<std::uint64_t>>);

TEST(TextLog, OwnWhatTheKeysReferTo) {
  StateMemory memory(64 << 20);
  TextLog<Text> texts;
  std::vector<std::pair<Text, std::string>> owned;
  for (std::size_t i = 0; i < 20'000; ++i) {
    std::string bytes(i % 100 + (i % 1'000 == 0 ? 300'000 : 0), static_cast<char>('a' + i % 26));
    const Text key{std::string_view(bytes)};
    ASSERT_TRUE(texts.MakeRoom(memory, TextBytes(key)).ok());
    owned.emplace_back(texts.Own(key), bytes);
    std::ranges::fill(bytes, '?');
  }
  TextLog<Text> moved(std::move(texts));
  for (const auto& [key, bytes] : owned) ASSERT_EQ(key.view(), bytes);
  EXPECT_GE(memory.used_bytes(), moved.size_bytes());
  moved.Release(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
  EXPECT_EQ(moved.size_bytes(), 0U);
}

/// Room for a group is not used up by keys that are known.
TEST(TextLog, TakeLittleMoreThanTheNewKeysOfLargeGroups) {
  StateMemory memory(256 << 20);
  TextLog<Text> texts;
  const std::string bytes(300, 'u');
  const std::vector<Item> group(1'000, Item{.key = Text(std::string_view(bytes))});
  constexpr std::size_t kNewKeys = 10'000;  // one a group
  for (std::size_t i = 0; i < kNewKeys; ++i) {
    ASSERT_TRUE(texts.MakeRoomFor(memory, group).ok());
    (void)texts.Own(group.front().key);
  }
  EXPECT_LT(texts.size_bytes(), 5 * kNewKeys * bytes.size() / 4 + 2 * group.size() * bytes.size());
}

TEST(TextLog, SayThatTheBudgetIsUsedUp) {
  StateMemory memory(4 << 20);
  TextLog<Text> texts;
  EXPECT_EQ(texts.MakeRoom(memory, 8 << 20).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(texts.MakeRoom(memory, 1'000).ok());
}

}  // namespace
}  // namespace glaive::state
