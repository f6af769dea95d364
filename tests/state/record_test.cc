// Descriptions of records, and what is done by them: which types have texts, their texts in order, copies of them, and
// their way through a message.

#include "state/record/record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/index/element_key.h"
#include "state/index/key_hash.h"
#include "state/record/text_arena.h"
#include "state/record/text_wire.h"

namespace glaive {
namespace {

struct Plain {
  std::int32_t a;
  char b;
};
GLAIVE_RECORD(Plain, a, b)

struct Inner {
  Text name;
  std::uint64_t count;

  friend bool operator==(const Inner&, const Inner&) = default;
};
GLAIVE_RECORD(Inner, name, count)

struct Outer {
  std::int64_t number;
  Text first;
  Inner inner;
  std::array<Text, 2> pair;
  std::optional<Text> perhaps;
};
GLAIVE_RECORD(Outer, number, first, inner, pair, perhaps)

struct NotDescribed {
  std::uint64_t number;
  std::array<Inner, 2> inner;
};
struct Pointing {
  Text text;
  const char* elsewhere;
};
GLAIVE_RECORD(Pointing, text, elsewhere)

static_assert(kHasText<Text> && kHasText<Inner> && kHasText<Outer> && kHasText<std::array<Inner, 3>>);
static_assert(!kHasText<Plain> && !kHasText<int> && !kHasText<NotDescribed> && !kHasText<std::optional<Plain>>);
static_assert(kHasText<state::ElementKey<std::uint64_t, Text>> && !kHasText<state::ElementKey<int, long>>);
static_assert(kHasText<std::vector<Inner>> && kHasText<std::tuple<int, Text>> && !kHasText<std::tuple<int, Plain>>);
static_assert(RecordData<Text> && RecordData<Outer> && RecordData<Plain> && RecordData<int>);
static_assert(!RecordData<Pointing> && !RecordData<NotDescribed> && !RecordData<std::string>);
static_assert(kHidesText<NotDescribed> && kHidesText<std::optional<NotDescribed>>);
static_assert(!kHidesText<Outer> && !kHidesText<Plain> && !kHidesText<std::string>);
static_assert(!PlainData<Text> && !PlainData<Inner> && PlainData<Plain>);
static_assert(state::StateKey<Text> && state::StateKey<Inner> && !state::StateKey<Outer>);

constexpr const char* kLong = "a text of more than twelve bytes";
constexpr const char* kOther = "another text of many bytes, longer still";

Outer MakeOuter() {
  return {.number = 7,
          .first = kLong,
          .inner = {.name = "short", .count = 3},
          .pair = {Text(kOther), Text("")},
          .perhaps = Text(kLong)};
}

std::vector<std::string> TextsOf(const Outer& record) {
  std::vector<std::string> texts;
  ForEachText(record, [&](const Text& text) { texts.emplace_back(text.view()); });
  return texts;
}

TEST(Records, AreVisitedInTheOrderOfTheirMembers) {
  std::vector<std::string> names;
  const Outer record = MakeOuter();
  ForEachField(record, [&](std::string_view name, const auto& /*member*/) { names.emplace_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"number", "first", "inner", "pair", "perhaps"}));
  EXPECT_EQ(TextsOf(MakeOuter()), (std::vector<std::string>{kLong, "short", kOther, "", kLong}));
  Outer none = MakeOuter();
  none.perhaps.reset();
  EXPECT_EQ(TextsOf(none).size(), 4U);
}

TEST(Records, SayHowLongTheirTextsAre) {
  EXPECT_EQ(TextBytes(MakeOuter()), 2 * std::strlen(kLong) + std::strlen(kOther)) << "those that are not inline";
  EXPECT_EQ(TextBytes(Plain{}), 0U);
  EXPECT_EQ(LongestTextOf(MakeOuter()).member, "pair");
  EXPECT_EQ(LongestTextOf(MakeOuter()).bytes, std::strlen(kOther));
  Outer inner = MakeOuter();
  const std::string name(500, 'n');
  inner.inner.name = Text(std::string_view(name));
  EXPECT_EQ(LongestTextOf(inner).member, "inner.name");
  EXPECT_EQ(LongestTextOf(inner).bytes, 500U);
}

TEST(Records, AreCopiedWithTheirTexts) {
  state::TextArena arena;
  std::vector<std::pair<Outer, std::vector<std::string>>> owned;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 2'000; ++i) {
      std::string bytes(i % 97 * (i % 50 == 0 ? 400 : 1), static_cast<char>('a' + i % 26));
      Outer record = MakeOuter();
      record.pair[1] = Text(std::string_view(bytes));
      owned.emplace_back(arena.Own(record), TextsOf(record));
      std::ranges::fill(bytes, '?');
    }
    for (const auto& [record, texts] : owned) ASSERT_EQ(TextsOf(record), texts);
    EXPECT_GT(arena.size_bytes(), 100'000U);
    owned.clear();
    arena.Clear();
  }
}

TEST(Records, HaveTheHashOfTheirBytesWhereverTheirTextsAre) {
  const state::KeyHash hash(42);
  std::string bytes = kLong;
  std::string elsewhere = kLong;
  EXPECT_EQ(hash(Text(std::string_view(bytes))), hash(Text(std::string_view(elsewhere))));
  const Inner key{.name = Text(std::string_view(bytes)), .count = 3};
  const Inner same_key{.name = Text(std::string_view(elsewhere)), .count = 3};
  EXPECT_EQ(key, same_key);
  EXPECT_EQ(hash(key), hash(same_key));
  EXPECT_NE(hash(key), hash(Inner{.name = key.name, .count = 4}));
  elsewhere.back() = '?';  // not in the first bytes
  EXPECT_NE(hash(Text(std::string_view(bytes))), hash(Text(std::string_view(elsewhere))));
  EXPECT_NE(hash(key), hash(Inner{.name = Text(std::string_view(elsewhere)), .count = 3}));
  const state::ElementKey<std::uint64_t, Text> element(9, Text(std::string_view(bytes)));
  elsewhere = bytes;
  const state::ElementKey<std::uint64_t, Text> same(9, Text(std::string_view(elsewhere)));
  EXPECT_EQ(hash(element), hash(same));
  EXPECT_EQ(element, same);
  EXPECT_EQ(state::LeaderOf(hash(element), 13), state::LeaderOf(hash(std::uint64_t{9}), 13));
}

/// Some records as they lie in a message, and their texts.
class PackedRecords : public ::testing::Test {
 protected:
  PackedRecords() {
    std::byte* texts = room_.data() + room_.size();
    for (int i = 0; i < 3; ++i) {
      records_.push_back(MakeOuter());
      texts = state::PackTexts(records_.back(), texts, room_.data() + room_.size());
    }
    texts_ = std::span<const std::byte>(texts, room_.data() + room_.size());
  }

  /// Whether all records are taken, and all texts belong to them.
  bool Unpacks() {
    state::TextUnpacker unpacker(texts_);
    for (Outer& record : records_) {
      if (!unpacker.Unpack(record)) return false;
    }
    return unpacker.empty();
  }

  std::vector<std::byte> room_ = std::vector<std::byte>(1'000);
  std::vector<Outer> records_;
  std::span<const std::byte> texts_;
};

TEST_F(PackedRecords, HaveTheirTextsAgain) {
  EXPECT_EQ(texts_.size(), 3 * TextBytes(MakeOuter()));
  const std::vector<std::byte> moved(texts_.begin(), texts_.end());
  texts_ = moved;
  std::ranges::fill(room_, std::byte{0});
  ASSERT_TRUE(Unpacks());
  for (const Outer& record : records_) EXPECT_EQ(TextsOf(record), TextsOf(MakeOuter()));
}

TEST_F(PackedRecords, AreRefusedWithAnotherReference) {
  const Text right = records_[1].first;
  for (const std::uint64_t wrong :
       {std::uint64_t{0}, right.reference() - 1, right.reference() + 1, right.reference() + texts_.size(),
        ~std::uint64_t{0}, records_[0].first.reference()}) {
    records_[1].first = right.WithReference(wrong);
    std::vector<Outer> records = records_;
    EXPECT_FALSE(Unpacks()) << wrong;
    records_ = records;
  }
}

TEST_F(PackedRecords, AreRefusedWithOtherLengths) {
  const std::vector<Outer> right = records_;
  for (const std::uint32_t length : {13U, 31U, 33U, 0xFFFFFFFFU}) {
    records_ = right;
    std::memcpy(static_cast<void*>(&records_[2].pair[0]), &length, sizeof(length));
    EXPECT_FALSE(Unpacks()) << length;
  }
}

TEST_F(PackedRecords, AreRefusedWithMoreOrLessTextThanTheyHave) {
  const std::vector<Outer> right = records_;
  const std::span<const std::byte> all = texts_;
  texts_ = all.last(all.size() - 1);
  EXPECT_FALSE(Unpacks());
  records_ = right;
  texts_ = std::span<const std::byte>(all.data() - 1, all.size() + 1);
  EXPECT_FALSE(Unpacks()) << "a byte that no text refers to";
}

TEST_F(PackedRecords, AreRefusedWithAnOptionalThatIsNeitherThereNorNot) {
  const std::vector<Outer> right = records_;
  for (const int flag : {2, 0x17, 0x80, 0xFF}) {
    records_ = right;
    std::memset(reinterpret_cast<std::byte*>(&records_[1].perhaps) + sizeof(Text), flag, 1);
    EXPECT_FALSE(Unpacks()) << flag;
  }
}

TEST_F(PackedRecords, AreTakenWithAnOptionalWithoutAValue) {
  Outer without = MakeOuter();
  without.perhaps = std::nullopt;
  std::byte* const texts = state::PackTexts(without, room_.data() + room_.size(), room_.data() + room_.size());
  records_ = {without};
  texts_ = std::span<const std::byte>(texts, room_.data() + room_.size());
  ASSERT_TRUE(Unpacks());
  EXPECT_FALSE(records_[0].perhaps.has_value());
}

TEST_F(PackedRecords, AreRefusedWithBytesBehindAShortText) {
  const std::byte one{1};
  std::memcpy(reinterpret_cast<std::byte*>(&records_[0].inner.name) + sizeof(Text) - 1, &one, 1);
  EXPECT_FALSE(Unpacks());
}

}  // namespace
}  // namespace glaive
