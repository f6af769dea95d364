// TwoStacks against adding up every piece anew for every time.

#include "state/store/two_stacks.h"

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/several.h"
#include "tests/state/same_values.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

using Value = SeveralValue<CountValue, MaxValue<std::int64_t>>;
using Stacks = TwoStacks<std::uint64_t, Value>;
using Content = std::map<std::uint64_t, Value>;

struct CountedUpdate {
  std::uint64_t hash;
  std::uint64_t key;
  std::int64_t value;
};

class TwoStacksTest : public ::testing::Test {
 protected:
  /// Pushes a piece of `records` records of keys below `keys`, and remembers it.
  void Push(std::int64_t until, int records, std::uint64_t keys) {
    auto table = Stacks::Table::Create(memory_, 0).value();
    Content content;
    for (int i = 0; i < records; ++i) {
      const std::uint64_t key = random_() % keys;
      const CountedUpdate update{
          .hash = kTestHash(key), .key = key, .value = static_cast<std::int64_t>(random_() % 1000)};
      const auto apply = [](Value& value, const CountedUpdate& item) { value.Update({{}, {item.value}}); };
      ASSERT_TRUE(table.Apply(memory_, std::span(&update, 1), apply).ok());
      apply(content[key], update);
    }
    entries_ += content.size();
    stacks_.Push(std::move(table), until);
    pieces_.push_back({until, std::move(content)});
  }

  /// Finishes the work of this step, a few entries at a time, and compares.
  void ExpectRight(std::int64_t now) {
    for (auto done = stacks_.Work(1 + random_() % 100); !done.value();) {
      done = stacks_.Work(1 + random_() % 100);
    }
    Content expected;
    for (const auto& [until, content] : pieces_) {
      if (until < now) continue;
      for (const auto& [key, value] : content) expected[key].Merge(value);
    }
    Content found;
    for (std::uint32_t first = 0; !stacks_.Run(first).empty();) {
      for (const auto& entry : stacks_.Run(first)) {
        if (!stacks_.Holds(entry)) continue;
        ASSERT_TRUE(found.emplace(entry.key, stacks_.ValueOf(entry)).second);
      }
      first += static_cast<std::uint32_t>(stacks_.Run(first).size());
    }
    ASSERT_TRUE(SameValues(found, expected)) << "at " << now;
    results_ += found.size();
  }

  std::mt19937_64 random_{5};
  StateMemory memory_{std::uint64_t{1} << 30};
  Stacks stacks_{memory_};
  std::vector<std::pair<std::int64_t, Content>> pieces_;
  std::uint64_t entries_ = 0;
  std::uint64_t results_ = 0;
};

TEST_F(TwoStacksTest, HoldsWhatStillCountsWithThreeMergesAKeyAndStep) {
  constexpr std::int64_t kPieces = 10;  // that count at one time
  for (std::int64_t now = 0; now < 300; ++now) {
    stacks_.Advance(now);
    Push(now + kPieces - 1, static_cast<int>(random_() % 200), 50 + 150 * (random_() % 2));
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
    EXPECT_EQ(stacks_.until(), now + kPieces - 1);
  }
  EXPECT_LE(stacks_.merges(), 2 * entries_ + results_);
  EXPECT_GT(stacks_.merges(), results_ / 2) << "it was not tested with overlaps";
}

TEST_F(TwoStacksTest, PiecesOutOfTurnArePutInTheirPlace) {
  constexpr std::int64_t kPieces = 8;
  for (std::int64_t now = 0; now < 400; ++now) {
    stacks_.Advance(now);
    if (random_() % 5 != 0) Push(now + kPieces - 1, static_cast<int>(random_() % 60), 40);
    while (random_() % 2 == 0) {
      Push(now + static_cast<std::int64_t>(random_() % kPieces), static_cast<int>(1 + random_() % 10), 60);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
  }
}

TEST_F(TwoStacksTest, TimeMayJumpAndEverythingMayLeave) {
  std::int64_t now = 0;
  for (int step = 0; step < 100; ++step) {
    now += static_cast<std::int64_t>(random_() % 12);
    stacks_.Advance(now);
    for (std::uint64_t pieces = random_() % 3; pieces > 0; --pieces) Push(now + 5, 30, 20);
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
  }
}

TEST_F(TwoStacksTest, MemoryComesBack) {
  std::uint64_t mapped = 0;
  for (std::int64_t now = 0; now < 500; ++now) {
    stacks_.Advance(now);
    Push(now + 3, 500, 10'000);
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
    pieces_.erase(pieces_.begin(), pieces_.size() > 5 ? pieces_.end() - 5 : pieces_.begin());
    if (now == 50) mapped = memory_.mapped_bytes();
  }
  EXPECT_LE(memory_.mapped_bytes(), mapped);
}

}  // namespace
}  // namespace glaive::state
