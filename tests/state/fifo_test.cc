// SmallBlocks and Fifo: blocks do not overlap and come back, queues hold what was pushed, and all memory is given back.

#include "state/store/fifo.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/record/record.h"
#include "state/store/small_blocks.h"

namespace glaive::state {
namespace {

struct LabelledPair {
  Text first;
  std::uint64_t number;
  Text second;
};
GLAIVE_RECORD(LabelledPair, first, number, second)

TEST(SmallBlocks, DoNotOverlapAndAreUsedAgain) {
  StateMemory memory(std::uint64_t{64} << 20);
  SmallBlocks blocks;
  std::mt19937_64 random(1);
  struct Held {
    std::byte* data;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Held> held;
  for (int step = 0; step < 20'000; ++step) {
    if (held.size() > 500 || (!held.empty() && random() % 2 == 0)) {
      std::swap(held[random() % held.size()], held.back());
      const Held one = held.back();
      held.pop_back();
      for (std::size_t i = 0; i < one.bytes; ++i) ASSERT_EQ(one.data[i], std::byte{one.mark});
      blocks.Release(memory, one.data, one.bytes);
    } else {
      const std::size_t bytes = 1 + random() % (std::size_t{1} << random() % 18);
      const absl::StatusOr<std::byte*> block = blocks.Acquire(memory, bytes);
      ASSERT_TRUE(block.ok()) << block.status();
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(*block) % SmallBlocks::kAlignment, 0U);
      ASSERT_GE(SmallBlocks::RoomFor(bytes), bytes);
      held.push_back({*block, bytes, static_cast<unsigned char>(random())});
      std::memset(*block, held.back().mark, bytes);
    }
  }
  for (const Held& one : held) blocks.Release(memory, one.data, one.bytes);
  const std::uint64_t used = memory.used_bytes();
  for (int again = 0; again < 100; ++again) {
    const absl::StatusOr<std::byte*> block = blocks.Acquire(memory, 1'000);
    ASSERT_TRUE(block.ok());
    blocks.Release(memory, *block, 1'000);
  }
  EXPECT_EQ(memory.used_bytes(), used);
  blocks.ReleaseAll(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(Fifo, HasWhatWasPushedInOrder) {
  StateMemory memory(std::uint64_t{64} << 20);
  SmallBlocks blocks;
  std::mt19937_64 random(2);
  std::vector<Fifo<std::uint64_t>> queues(50);
  std::vector<std::deque<std::uint64_t>> expected(queues.size());
  for (int step = 0; step < 100'000; ++step) {
    const std::size_t which = random() % queues.size();
    if (random() % 3 == 0) {
      const std::uint64_t count = random() % (expected[which].size() + 1);
      queues[which].Pop(memory, blocks, count);
      expected[which].erase(expected[which].begin(), expected[which].begin() + static_cast<std::ptrdiff_t>(count));
    } else {
      const std::uint64_t element = random();
      ASSERT_TRUE(queues[which].Push(memory, blocks, element).ok());
      expected[which].push_back(element);
      ASSERT_EQ(queues[which].back(), element);
    }
    ASSERT_TRUE(std::ranges::equal(queues[which].elements(), expected[which]));
  }
  for (Fifo<std::uint64_t>& queue : queues) queue.Clear(memory, blocks);
  blocks.ReleaseAll(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(Fifo, OwnsTheTextsOfItsElements) {
  StateMemory memory(std::uint64_t{64} << 20);
  SmallBlocks blocks;
  std::mt19937_64 random(3);
  Fifo<LabelledPair> queue;
  std::deque<std::pair<std::string, std::string>> expected;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    if (expected.size() > 100 || random() % 3 == 0) {
      const std::uint64_t count = random() % (expected.size() + 1);
      queue.Pop(memory, blocks, count);
      expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count));
    } else {
      std::string first(random() % 40, static_cast<char>('a' + step % 26));
      std::string second(random() % 30, static_cast<char>('A' + step % 26));
      ASSERT_TRUE(queue.Push(memory, blocks, {.first = Text(first), .number = step, .second = Text(second)}).ok());
      expected.emplace_back(first, second);
      std::ranges::fill(first, '-');  // what the record referred to
      std::ranges::fill(second, '-');
    }
    ASSERT_EQ(queue.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); i += 17) {
      ASSERT_EQ(queue.elements()[i].first.view(), expected[i].first);
      ASSERT_EQ(queue.elements()[i].second.view(), expected[i].second);
    }
  }
  queue.Clear(memory, blocks);
  blocks.ReleaseAll(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

/// The new element has a text of the old one, and another in memory that is overwritten.
TEST(Fifo, ReplacesTheNewestElement) {
  StateMemory memory(std::uint64_t{4} << 20);
  SmallBlocks blocks;
  Fifo<LabelledPair> queue;
  ASSERT_TRUE(queue.Push(memory, blocks, {.first = Text("the oldest element"), .number = 0, .second = Text()}).ok());
  ASSERT_TRUE(queue.Push(memory, blocks, {.first = Text("the newest element"), .number = 0, .second = Text()}).ok());
  for (std::uint64_t step = 1; step < 50'000; ++step) {
    std::string bytes(13 + step % 90, static_cast<char>('a' + step % 26));
    const std::string before(queue.back().second.view());
    const LabelledPair next{.first = queue.back().second, .number = step, .second = Text(bytes)};
    ASSERT_TRUE(queue.ReplaceBack(memory, blocks, next).ok()) << "in step " << step;
    std::ranges::fill(bytes, '-');
    ASSERT_EQ(queue.back().first.view(), before);
    ASSERT_EQ(queue.back().second.view(), std::string(13 + step % 90, static_cast<char>('a' + step % 26)));
    ASSERT_EQ(queue.back().number, step);
  }
  EXPECT_EQ(queue.elements().front().first.view(), "the oldest element");
  queue.Clear(memory, blocks);
  blocks.ReleaseAll(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(Fifo, EndsWithTheBudget) {
  StateMemory memory(std::uint64_t{4} << 20);
  SmallBlocks blocks;
  Fifo<std::uint64_t> queue;
  absl::Status status;
  std::uint64_t pushed = 0;
  for (; status.ok() && pushed < 10'000'000; ++pushed) status = queue.Push(memory, blocks, pushed);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(queue.size(), pushed - 1);
  EXPECT_EQ(queue.elements().back(), pushed - 2);
}

}  // namespace
}  // namespace glaive::state
