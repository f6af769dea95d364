// SessionShare against sessions found in each key's sorted times, over random slices, and moved to other shares
// meanwhile.
#include "engine/stage/session_share.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/stage/join_plan.h"
#include "state/crdt/appended.h"
#include "state/store/append_table.h"
#include "tests/state/test_hash.h"
#include "tests/state/tuples_of.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kGapMs = 100;

struct Side {
  using Tuple = std::uint64_t;
  struct Store {
    using Table = state::AppendTable<std::uint64_t, state::Appended<Timed<Tuple>>>;
  };
};
struct Plan {
  static constexpr bool kTimedTuples = false;
  using GroupKey = std::uint64_t;
  using Left = Side;
  using Right = Side;
};
using Share = SessionShare<Plan>;
using Entry = Side::Store::Table::Entry;

struct Found {
  std::int64_t first_ms;
  std::int64_t last_ms;
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> right;

  friend auto operator<=>(const Found&, const Found&) = default;
};
using FoundSessions = std::multimap<std::uint64_t, Found>;  // by key

struct Record {
  std::int64_t time_ms;
  bool is_left;
  std::uint64_t tuple;
};

FoundSessions Sequential(std::map<std::uint64_t, std::vector<Record>> records) {
  FoundSessions sessions;
  for (auto& [key, of_key] : records) {
    std::ranges::sort(of_key, {}, &Record::time_ms);
    Found* last = nullptr;
    for (const Record& record : of_key) {
      if (last == nullptr || record.time_ms - last->last_ms >= kGapMs) {
        last = &sessions.emplace(key, Found{.first_ms = record.time_ms, .last_ms = 0, .left = {}, .right = {}})->second;
      }
      last->last_ms = record.time_ms;
      (record.is_left ? last->left : last->right).push_back(record.tuple);
    }
  }
  return sessions;
}

/// Equal whatever the order of tuples and of a key's sessions.
std::vector<std::pair<std::uint64_t, Found>> Sorted(const FoundSessions& sessions) {
  std::vector<std::pair<std::uint64_t, Found>> sorted(sessions.begin(), sessions.end());
  for (auto& [key, session] : sorted) {
    std::ranges::sort(session.left);
    std::ranges::sort(session.right);
  }
  std::ranges::sort(sorted);
  return sorted;
}

/// The slice's entries that belong to a share.
void ReadSlice(state::StateMemory& memory, Share& share, const std::vector<Entry>& left,
               const std::vector<Entry>& right, FoundSessions& found) {
  ASSERT_TRUE(share.BeginSlice(memory, left.size() + right.size()).ok());
  ASSERT_TRUE(share.AddRight(memory, right).ok());
  ASSERT_TRUE(share.AddLeft(memory, left).ok());
  const auto ended = [&](const Share::Session& session) {
    found.emplace(session.key, Found{.first_ms = session.first_ms,
                                     .last_ms = session.last_ms,
                                     .left = state::TuplesOf(share.left(), session.left),
                                     .right = state::TuplesOf(share.right(), session.right)});
    return absl::OkStatus();
  };
  ASSERT_TRUE(share.EndSlice(memory, kGapMs, [] {}, ended).ok());
}

/// With keys that come in nearly every slice, and keys that hardly ever do.
TEST(SessionShare, FindsTheSessionsOfSortedTimes) {
  state::StateMemory memory(std::uint64_t{64} << 20);
  std::mt19937_64 random(7);
  std::vector<Share> shares(1);
  std::map<std::uint64_t, std::vector<Record>> records;
  FoundSessions found;
  std::uint64_t tuple = 0;
  std::uint32_t most = 0;
  for (std::int64_t slice = 0; slice <= 400; ++slice) {
    if (slice == 220) {
      std::vector<Share> more(4);
      ASSERT_FALSE(shares.front().empty());
      ASSERT_TRUE(
          shares.front().MoveTo(memory, [&](std::uint64_t hash) -> Share& { return more[hash % 4]; }, [] {}).ok());
      EXPECT_TRUE(shares.front().empty());
      shares = std::move(more);
    }
    std::vector<std::vector<Entry>> left(shares.size());
    std::vector<std::vector<Entry>> right(shares.size());
    // The last slice is empty: it ends all that is open. Others are, too.
    const std::uint64_t count = slice == 400 || slice % 50 == 49 ? 0 : random() % 200;
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool often = random() % 2 == 0;
      const std::uint64_t key = often ? random() % 10 : 10 + random() % 300;
      const Record record{.time_ms = slice * kGapMs + static_cast<std::int64_t>(random() % kGapMs),
                          .is_left = random() % 3 != 0,
                          .tuple = ++tuple};
      records[key].push_back(record);
      (record.is_left ? left : right)[state::kTestHash(key) % shares.size()].push_back(
          {.key = key, .value = {{.time_ms = record.time_ms, .tuple = record.tuple}}});
    }
    for (std::size_t share = 0; share < shares.size(); ++share) {
      ReadSlice(memory, shares[share], left[share], right[share], found);
      most = std::max(most, shares[share].left().size());
    }
  }
  EXPECT_EQ(Sorted(found), Sorted(Sequential(records)));
  EXPECT_TRUE(std::ranges::all_of(shares, &Share::empty));
  EXPECT_GT(found.size(), 5'000U);
  EXPECT_GT(most, 300U) << "no session was long";
}

TEST(SessionShare, SaysWhenTheBudgetIsUsedUp) {
  state::StateMemory memory(std::uint64_t{2} << 20);
  Share share;
  ASSERT_TRUE(share.BeginSlice(memory, 1'000'000).ok());
  std::vector<Entry> entries(1'000);
  absl::Status status;
  for (std::uint64_t key = 0; status.ok() && key < 1'000'000; key += entries.size()) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i] = {.key = key + i, .value = {}};
    }
    status = share.AddLeft(memory, entries);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::engine
