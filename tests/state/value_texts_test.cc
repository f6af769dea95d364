// ValueTexts: what values refer to after changes, whatever memory their texts came from, and how much memory that
// takes.

#include "state/log/value_texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rdma/base/sanitizers.h"
#include "state/crdt/ordered.h"

namespace glaive::state {
namespace {

static_assert(std::is_empty_v<ValueTexts<std::uint64_t>>);

struct Note {
  Text title;
  std::array<Text, 3> lines;
  std::optional<Text> author;
};
GLAIVE_RECORD(Note, title, lines, author)

std::vector<std::string> TextsIn(const Note& note) {
  std::vector<std::string> texts;
  ForEachText(note, [&](const Text& text) { texts.emplace_back(text.view()); });
  return texts;
}

std::string RandomText(std::mt19937_64& random, std::size_t most_bytes) {
  std::string text(random() % most_bytes, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random() % 26);
  return text;
}

/// Notes, each with the texts that it should have. A change is made of texts in memory that is overwritten behind it.
class Notes : public ::testing::Test {
 protected:
  static constexpr std::size_t kNotes = 50;

  /// Changes one text of a note: to a new one, to that of another place, to a part of it, or to none.
  void ChangeSome(std::size_t most_bytes) {
    Note& note = notes_[random_() % kNotes];
    std::string foreign = RandomText(random_, most_bytes);
    std::vector<std::string> expected;
    const absl::Status status = texts_.Change(memory_, note, Age::kKnown, [&](Note& changed) {
      Text& line = changed.lines[random_() % changed.lines.size()];
      switch (random_() % 8) {
        case 0:
          line = changed.title;
          break;  // the same bytes twice
        case 1:
          std::swap(line, changed.title);
          break;
        case 2:
          std::rotate(changed.lines.begin(), changed.lines.begin() + 1, changed.lines.end());
          break;
        case 3:
          changed.title = Text(changed.title.view().substr(changed.title.size() / 4));
          break;
        case 4:
          line = Text(line.view().substr(0, line.size() / 2));
          break;
        case 5:
          changed.author = random_() % 2 == 0 ? std::optional<Text>() : std::optional(changed.title);
          break;
        case 6:
          break;  // nothing
        default:
          line = Text(std::string_view(foreign));
      }
      expected = TextsIn(changed);
    });
    ASSERT_TRUE(status.ok()) << status;
    std::ranges::fill(foreign, '?');
    expected_[static_cast<std::size_t>(&note - notes_.data())] = std::move(expected);
  }
  void ExpectAll() const {
    for (std::size_t i = 0; i < kNotes; ++i) ASSERT_EQ(TextsIn(notes_[i]), expected_[i]) << i;
  }

  std::mt19937_64 random_{7};
  StateMemory memory_{64 << 20};
  ValueTexts<Note> texts_;
  std::vector<Note> notes_{kNotes};
  std::vector<std::vector<std::string>> expected_ = std::vector(kNotes, TextsIn(Note()));
};

TEST_F(Notes, HaveWhatTheyWereChangedTo) {
  for (const std::size_t most_bytes : {std::size_t{40}, std::size_t{300}, std::size_t{5'000}}) {
    for (int i = 0; i < (kSanitized ? 3'000 : 30'000); ++i) {
      ASSERT_NO_FATAL_FAILURE(ChangeSome(most_bytes));
      if (i % 100 == 0) ASSERT_NO_FATAL_FAILURE(ExpectAll());
    }
  }
  ValueTexts<Note> moved(std::move(texts_));
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  EXPECT_EQ(memory_.used_bytes(), moved.size_bytes());
  moved.Release(memory_);
  EXPECT_EQ(memory_.used_bytes(), 0U);
  EXPECT_EQ(moved.size_bytes(), 0U);
}

/// A million updates, of which each replaces a text.
TEST(ValueTexts, FollowTheTextsThatThereAre) {
  StateMemory memory(64 << 20);
  ValueTexts<LastValue<std::int64_t, Text>> texts;
  std::vector<LastValue<std::int64_t, Text>> values(100);
  std::mt19937_64 random(9);
  std::size_t early_bytes = 0;
  constexpr std::int64_t kUpdates = kSanitized ? 50'000 : 1'000'000;
  for (std::int64_t i = 0; i < kUpdates; ++i) {
    std::string bytes(13 + random() % 500, static_cast<char>('a' + i % 26));
    auto& value = values[random() % values.size()];
    const Ordered<std::int64_t, Text> input{.order = i, .value = Text(std::string_view(bytes))};
    ASSERT_TRUE(texts.Change(memory, value, Age::kKnown, [&](auto& changed) { changed.Update(input); }).ok());
    bytes.assign(bytes.size(), '?');
    ASSERT_EQ(value.best.value.view()[0], static_cast<char>('a' + i % 26));
    if (i == kUpdates / 10) early_bytes = texts.size_bytes();
  }
  EXPECT_LT(texts.size_bytes(), 4 * 100 * 512U);
  EXPECT_LE(texts.size_bytes(), early_bytes + 512);
}

/// Texts that never recur in size: the places of each size stay few.
TEST(ValueTexts, TakeLittleMoreThanTheirTexts) {
  StateMemory memory(256 << 20);
  ValueTexts<Text> texts;
  std::vector<Text> values(20'000);
  std::mt19937_64 random(9);
  std::size_t bytes = 0;
  for (Text& value : values) {
    const std::string its = RandomText(random, 400);
    bytes += its.size();
    ASSERT_TRUE(texts.Change(memory, value, Age::kNew, [&](Text& text) { text = Text(std::string_view(its)); }).ok());
  }
  EXPECT_LT(texts.size_bytes(), bytes + bytes / 4);
}

/// A new value may have texts already, of others.
TEST(ValueTexts, OwnTheTextsOfANewValue) {
  StateMemory memory(64 << 20);
  ValueTexts<Text> texts;
  std::string bytes(100, 'i');
  Text value{std::string_view(bytes)};
  ASSERT_TRUE(texts.Change(memory, value, Age::kNew, [](Text&) {}).ok());
  bytes.assign(100, '?');
  EXPECT_EQ(value.view(), std::string(100, 'i'));
}

TEST(ValueTexts, StayUntilTheNextChange) {
  StateMemory memory(64 << 20);
  ValueTexts<Text> texts;
  Text first;
  Text second;
  const auto change = [&](Text& value, const std::string& to) {
    ASSERT_TRUE(texts.Change(memory, value, Age::kKnown, [&](Text& text) { text = Text(std::string_view(to)); }).ok());
  };
  change(first, std::string(50, 'a'));
  const Text before = first;
  change(first, std::string(50, 'b'));
  EXPECT_EQ(before.view(), std::string(50, 'a'));
  change(second, std::string(50, 'c'));
  EXPECT_EQ(before.view(), std::string(50, 'c')) << "the place is used again";
  EXPECT_EQ(first.view(), std::string(50, 'b'));
}

/// Values come and go, a few at a time, as the elements of a queue do.
TEST(ValueTexts, OfValuesThatAreGoneAreFree) {
  StateMemory memory(64 << 20);
  ValueTexts<Note> texts;
  std::mt19937_64 random(11);
  std::vector<Note> notes;
  std::size_t early_bytes = 0;
  constexpr std::size_t kSteps = kSanitized ? 1'000 : 20'000;
  for (std::size_t step = 0; step < kSteps; ++step) {
    std::string title(13 + step % 80, static_cast<char>('a' + step % 26));
    const std::string author = "an author with a long name, but always the same";
    notes.push_back({.title = Text(std::string_view(title)), .lines = {}, .author = Text(std::string_view(author))});
    ASSERT_TRUE(texts.Change(memory, notes.back(), Age::kNew, [](Note&) {}).ok());
    title.assign(title.size(), '?');
    ASSERT_EQ(notes.back().title.view(), std::string(13 + step % 80, static_cast<char>('a' + step % 26)));
    if (notes.size() == 30) {
      for (std::size_t i = 0; i < 29; ++i) {
        texts.Drop(notes[i]);
        ASSERT_EQ(notes[i].author->view(), author) << "until the next call";
      }
      ASSERT_EQ(notes.back().author->view(), author);
      notes.erase(notes.begin(), notes.end() - 1);
    }
    if (step == kSteps / 10) early_bytes = texts.size_bytes();
  }
  EXPECT_LE(texts.size_bytes(), early_bytes + 512);
  texts.Release(memory);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(ValueTexts, SayThatTheBudgetIsUsedUp) {
  StateMemory memory(4 << 20);
  ValueTexts<Note> texts;
  Note note;
  const std::string fits(1'000, 'f');
  const std::string large(8 << 20, 'l');
  const absl::Status status = texts.Change(memory, note, Age::kNew, [&](Note& changed) {
    changed.title = Text(std::string_view(large));
    changed.lines[1] = Text(std::string_view(fits));
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(note.title.empty());
  EXPECT_EQ(note.lines[1].view(), fits);
}

}  // namespace
}  // namespace glaive::state
