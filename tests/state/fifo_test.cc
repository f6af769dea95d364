// SmallBlocks and Fifo: blocks do not overlap and come back, queues hold what was pushed, and all memory is given back.

#include "state/store/fifo.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/store/small_blocks.h"

namespace glaive::state {
namespace {

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

/// An element of so many 8-byte words, which are all alike.
template <std::size_t kWords>
struct Words {
  std::array<std::uint64_t, kWords> words;

  friend bool operator==(const Words&, const Words&) = default;
};

/// Pushes and pops at random. Two elements of one word lie in the queue itself, or one of two words, or none of three.
template <std::size_t kWords>
void ExpectOrder() {
  StateMemory memory(std::uint64_t{64} << 20);
  SmallBlocks blocks;
  std::mt19937_64 random(2);
  std::vector<Fifo<Words<kWords>>> queues(50);
  std::vector<std::deque<Words<kWords>>> expected(queues.size());
  for (int step = 0; step < 100'000; ++step) {
    const std::size_t which = random() % queues.size();
    if (random() % 3 == 0) {
      // Of every second queue most: such queues stay short.
      const std::uint64_t most = expected[which].size();
      const std::uint64_t count = which % 2 == 0 ? random() % (most + 1) : most - std::min<std::uint64_t>(most, 1);
      queues[which].Pop(memory, blocks, count);
      expected[which].erase(expected[which].begin(), expected[which].begin() + static_cast<std::ptrdiff_t>(count));
    } else {
      Words<kWords> element;
      element.words.fill(random());
      ASSERT_TRUE(queues[which].Push(memory, blocks, element).ok());
      expected[which].push_back(element);
      ASSERT_EQ(queues[which].back(), element);
    }
    ASSERT_TRUE(std::ranges::equal(queues[which].elements(), expected[which]));
    ASSERT_EQ(queues[which].size(), expected[which].size());
  }
  for (Fifo<Words<kWords>>& queue : queues) queue.Clear(memory, blocks);
  blocks.ReleaseAll(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(Fifo, HasWhatWasPushedInOrder) {
  ExpectOrder<1>();
  ExpectOrder<2>();
  ExpectOrder<3>();
}

TEST(Fifo, FewSmallElementsNeedNoBlock) {
  StateMemory memory(std::uint64_t{64} << 20);
  SmallBlocks blocks;
  Fifo<std::uint64_t> queue;
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    ASSERT_TRUE(queue.Push(memory, blocks, number).ok());
    if (number > 0) queue.Pop(memory, blocks, 1);
  }
  EXPECT_EQ(queue.back(), 999U);
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
