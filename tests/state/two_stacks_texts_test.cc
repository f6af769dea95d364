// TwoStacks of values with texts, against strings: the tables of pieces and that of keys exchange texts, and each owns
// its own.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/extremum.h"
#include "state/crdt/ordered.h"
#include "state/crdt/several.h"
#include "state/store/two_stacks.h"
#include "tests/state/same_elements.h"

namespace glaive::state {
namespace {

using Value = SeveralValue<MinValue<Text>, TopKValue<2, Text>>;
using Stacks = TwoStacks<Text, Value>;

struct TextUpdate {
  std::uint64_t hash;
  Text key;
  Text text;
};

class TwoStacksTexts : public ::testing::Test {
 protected:
  /// Pushes a piece of so many records. Their texts are in memory that is overwritten.
  void Push(std::int64_t until, std::uint64_t records) {
    auto table = Stacks::Table::Create(memory_, 0).value();
    Piece piece{.until = until, .texts = {}};
    for (; records > 0; --records) {
      std::string key = "the key of number " + std::to_string(random_() % 30);
      std::string text = std::string(random_() % 40, 't') + std::to_string(random_() % 100);
      piece.texts[key].push_back(text);
      const TextUpdate update{.hash = memory_.key_hash()(Text(std::string_view(key))),
                              .key = Text(std::string_view(key)),
                              .text = Text(std::string_view(text))};
      const auto apply = [](Value& value, const TextUpdate& item) { value.Update({{item.text}, {{item.text}}}); };
      ASSERT_TRUE(table.Apply(memory_, std::span(&update, 1), apply).ok());
      std::ranges::fill(key, '?');
      std::ranges::fill(text, '?');
    }
    stacks_.Push(std::move(table), until);
    pieces_.push_back(std::move(piece));
  }

  void ExpectRight(std::int64_t now) {
    for (auto done = stacks_.Work(1 + random_() % 50); !done.value();) {
      done = stacks_.Work(1 + random_() % 50);
    }
    std::map<std::string, std::vector<std::string>> all;
    std::erase_if(pieces_, [&](const Piece& piece) { return piece.until < now; });
    for (const Piece& piece : pieces_) {
      for (const auto& [key, texts] : piece.texts) all[key].insert(all[key].end(), texts.begin(), texts.end());
    }
    std::map<std::string, std::string> expected;
    for (auto& [key, texts] : all) {
      std::ranges::sort(texts);
      expected[key] = texts.front() + "|" + texts.back() + (texts.size() > 1 ? "|" + *(texts.end() - 2) : "");
    }
    std::map<std::string, std::string> found;
    for (std::uint32_t first = 0; !stacks_.Run(first).empty();) {
      for (const auto& entry : stacks_.Run(first)) {
        if (!stacks_.Holds(entry)) continue;
        const Value value = stacks_.ValueOf(entry);
        std::string& texts = found[std::string(entry.key.view())];
        texts = value.first.Result().view();
        for (const Text& text : value.rest.first.Result()) texts += "|" + std::string(text.view());
      }
      first += static_cast<std::uint32_t>(stacks_.Run(first).size());
    }
    ASSERT_TRUE(SameElements(found, expected)) << "at " << now;
  }

  struct Piece {
    std::int64_t until;
    std::map<std::string, std::vector<std::string>> texts;  // by key
  };

  std::mt19937_64 random_{5};
  StateMemory memory_{std::uint64_t{1} << 30};
  Stacks stacks_{memory_};
  std::vector<Piece> pieces_;
};

TEST_F(TwoStacksTexts, AreThoseOfThePiecesThatCount) {
  for (std::int64_t now = 0; now < 200; ++now) {
    stacks_.Advance(now);
    Push(now + 9, random_() % 100);
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
  }
}

TEST_F(TwoStacksTexts, AreThoseOfPiecesOutOfTurn) {
  std::uint64_t bytes = 0;
  for (std::int64_t now = 0; now < 400; ++now) {
    stacks_.Advance(now);
    if (random_() % 5 != 0) Push(now + 7, random_() % 60);
    while (random_() % 2 == 0) Push(now + static_cast<std::int64_t>(random_() % 8), 1 + random_() % 10);
    ASSERT_NO_FATAL_FAILURE(ExpectRight(now));
    if (now == 100) bytes = memory_.used_bytes();
  }
  EXPECT_LT(memory_.used_bytes(), 3 * bytes);
}

}  // namespace
}  // namespace glaive::state
