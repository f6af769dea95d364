// Entries with texts on their way to a leader: how they lie in segments, and what a leader refuses of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/crdt/ordered.h"
#include "tests/state/fragment_helper.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

using testing::HasSubstr;

using TextUpdate = DeltaUpdate<Text, std::int64_t>;
constexpr DeltaEntryBytes kTextEntryBytes{.update = sizeof(TextUpdate), .form = 0, .has_texts = true};
static_assert(sizeof(TextUpdate) == 24);

using TextSums = std::map<std::string, std::int64_t>;

/// Texts of 0 to 40 bytes, half of them inline.
std::vector<std::string> TextsOf(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text(random() % 2 == 0 ? random() % 13 : 13 + random() % 28, 'x');
    for (char& letter : text) letter = static_cast<char>('a' + random() % 26);
    texts.push_back(std::move(text));
  }
  return texts;
}

/// Adds the entries of a message, as a leader reads them.
void AddTo(TextSums& sums, const ReceivedDelta& delta) {
  TextUnpacker texts(std::span(delta.payload).last(delta.tag.text_bytes));
  for (const ReceivedRun& run : delta.Runs(kTextEntryBytes)) {
    for (TextUpdate update : run.Entries<TextUpdate>()) {
      ASSERT_TRUE(texts.Unpack(update.key));
      sums[std::string(update.key.view())] += update.input;
    }
  }
  EXPECT_TRUE(texts.empty());
}

/// In segments of all sizes, with markers and without, full of runs and with one.
TEST(FragmentTexts, ReachTheLeadersOfTheirKeys) {
  for (const std::uint32_t slot_bytes : {256U, 320U, 1'024U, 65'536U}) {
    constexpr std::uint32_t kExecutors = 3;
    FragmentHelper helper(kExecutors, slot_bytes, 4 << 20);
    TextSums expected;
    TextSums received;
    std::int64_t number = 0;
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (int run = 0; run < 10; ++run) {
        const std::vector<std::string> texts = TextsOf(static_cast<std::uint64_t>(epoch * 10 + run), 40);
        std::vector<TextUpdate> updates;
        for (const std::string& text : texts) {
          updates.push_back({.key = Text(std::string_view(text)), .input = ++number});
          expected[text] += number;
        }
        helper.Append(run, updates);
        for (const TextUpdate& update : helper.fragment().own<TextUpdate>()) {
          received[std::string(update.key.view())] += update.input;
        }
      }
      helper.EndEpoch([] { FAIL() << "no segment for a marker"; });
      for (std::uint32_t leader = 1; leader < kExecutors; ++leader) {
        while (const auto delta = helper.Take(leader)) {
          ASSERT_EQ(delta->payload.size(),
                    delta->tag.runs_bytes + delta->tag.has_marker * kMarkerBytes + delta->tag.text_bytes);
          AddTo(received, *delta);
        }
      }
    }
    EXPECT_EQ(received, expected) << slot_bytes;
  }
}

/// Key and value have a text each, which lie behind each other. An observer sees them as they travel.
TEST(FragmentTexts, OfValuesComeBehindThoseOfKeys) {
  using Named = DeltaUpdate<Text, Ordered<std::int64_t, Text>>;
  constexpr DeltaEntryBytes kNamedBytes{.update = sizeof(Named), .form = 0, .has_texts = true};
  struct Seen final : DeltaObserver {
    void OnQueued(ExecutorId /*leader*/, const DeltaChunk& chunk) override {
      text_bytes += chunk.texts.size();
      texts.append(reinterpret_cast<const char*>(chunk.texts.data()), chunk.texts.size());
    }
    void OnMerged(ExecutorId /*sender*/, const DeltaChunk& /*chunk*/) override {}
    std::size_t text_bytes = 0;
    std::string texts;
  } seen;
  FragmentHelper helper(2, 1'024, 1 << 20, &seen);
  std::map<std::string, std::string> expected;
  std::map<std::string, std::string> received;
  std::string sent;  // to the other executor, the last first
  const std::vector<std::string> keys = TextsOf(1, 30);
  const std::vector<std::string> values = TextsOf(2, 30);
  std::vector<Named> updates;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Text key{std::string_view(keys[i])};
    updates.push_back({.key = key, .input = {.order = 1, .value = Text(std::string_view(values[i]))}});
    expected[keys[i]] = values[i];
    if (LeaderOf(kTestHash(key), 2) != ExecutorId{1}) continue;
    if (keys[i].size() > Text::kMostInline) sent.insert(0, keys[i]);
    if (values[i].size() > Text::kMostInline) sent.insert(0, values[i]);
  }
  helper.Append(1, std::vector<Named>(updates.begin(), updates.begin() + 10));
  for (const Named& own : helper.fragment().own<Named>()) received[std::string(own.key)] = own.input.value.view();
  helper.EndEpoch([] { FAIL() << "no segment for a marker"; });
  helper.Append(1, std::vector<Named>(updates.begin() + 10, updates.end()));
  for (const Named& own : helper.fragment().own<Named>()) received[std::string(own.key)] = own.input.value.view();
  helper.EndEpoch([] { FAIL() << "no segment for a marker"; });
  std::size_t text_bytes = 0;
  while (const auto delta = helper.Take(1)) {
    TextUnpacker texts(std::span(delta->payload).last(delta->tag.text_bytes));
    text_bytes += delta->tag.text_bytes;
    for (const ReceivedRun& run : delta->Runs(kNamedBytes)) {
      for (Named named : run.Entries<Named>()) {
        ASSERT_TRUE(texts.Unpack(named));
        received[std::string(named.key)] = named.input.value.view();
      }
    }
    EXPECT_TRUE(texts.empty());
  }
  EXPECT_EQ(received, expected);
  EXPECT_EQ(seen.text_bytes, sent.size());
  EXPECT_EQ(text_bytes, sent.size());
  EXPECT_TRUE(std::ranges::is_permutation(seen.texts, sent));
}

/// A chunk of one run by hand, with its texts behind it.
class TextChunks : public testing::Test {
 protected:
  static HandMadeDelta Chunk(const std::vector<TextUpdate>& updates, const std::string& texts) {
    HandMadeDelta chunk(1);
    chunk.AddRun(SliceId{1}, updates);
    chunk.tag.text_bytes = static_cast<std::uint32_t>(texts.size());
    const auto bytes = std::as_bytes(std::span(texts));
    chunk.payload.insert(chunk.payload.end(), bytes.begin(), bytes.end());
    return chunk;
  }
  /// What a reader says, of which the input has texts or none.
  static absl::Status Read(const HandMadeDelta& chunk, bool has_texts) {
    DeltaEntryBytes entry_bytes = kTextEntryBytes;
    entry_bytes.has_texts = has_texts;
    DeltaReader reader(ExecutorId{1}, ExecutorId{0}, entry_bytes);
    return reader.Read(chunk.message()).status();
  }
};

TEST_F(TextChunks, AreReadWithTheirTexts) {
  EXPECT_TRUE(Read(Chunk({{.key = Text("short"), .input = 1}}, "any bytes"), true).ok());
}

TEST_F(TextChunks, AreRefusedWhereKeysHaveNone) {
  EXPECT_TRUE(Read(Chunk({{.key = Text("short"), .input = 1}}, ""), false).ok());
  EXPECT_THAT(std::string(Read(Chunk({{.key = Text("short"), .input = 1}}, "any bytes"), false).message()),
              HasSubstr("it has 9 bytes of texts, and the entries of input 0 have none"));
}

TEST_F(TextChunks, AreRefusedWhoseTextsDoNotFitTheMessage) {
  HandMadeDelta chunk = Chunk({{.key = Text("short"), .input = 1}}, "any bytes");
  for (const std::uint32_t wrong : {0U, 8U, 10U, 0xFFFFFFFFU}) {
    chunk.tag.text_bytes = wrong;
    EXPECT_THAT(std::string(Read(chunk, true).message()), HasSubstr("does not match")) << wrong;
  }
}

}  // namespace
}  // namespace glaive::state
