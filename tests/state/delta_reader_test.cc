#include "state/epoch/delta_reader.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/crdt/count.h"
#include "state/store/delta_entry.h"
#include "tests/state/delta_wire.h"

namespace glaive::state {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Entry = DeltaEntry<std::uint64_t, CountValue>;

constexpr std::uint32_t kSender = 3;
constexpr std::uint32_t kLeader = 5;

class DeltaReaderTest : public testing::Test {
 protected:
  static std::vector<Entry> Entries(std::size_t count) {
    return std::vector<Entry>(count, Entry{.slice = SliceId{1}, .key = 2, .value = {.count = 3}});
  }
  static HandMadeDelta Chunk(std::uint64_t epoch) { return {epoch, Entries(2), std::nullopt}; }
  static HandMadeDelta End(std::uint64_t epoch, std::int64_t watermark_ms = 0) {
    return {epoch, Entries(2), MarkerOf(kSender, epoch, watermark_ms)};
  }

  void ExpectRead(const HandMadeDelta& delta) {
    const auto chunk = reader_.Read(delta.message());
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    EXPECT_EQ(chunk->tag.entry_count, delta.tag.entry_count);
  }

  /// The error names both executors, the last good epoch and what is wrong; nothing is read afterwards.
  void ExpectRefused(const HandMadeDelta& delta, const std::string& what) {
    const EpochId ended = reader_.ended();
    const std::int64_t watermark_ms = reader_.watermark_ms();
    const auto chunk = reader_.Read(delta.message());
    ASSERT_EQ(chunk.status().code(), absl::StatusCode::kDataLoss) << chunk.status();
    EXPECT_THAT(std::string(chunk.status().message()),
                AllOf(HasSubstr("executor 5 refuses a delta of executor 3"),
                      HasSubstr("after its epoch " + std::to_string(Value(ended))), HasSubstr(what)));
    const std::uint64_t next = Value(ended) + 1;
    EXPECT_EQ(reader_.Read(Chunk(next).message()).status(), chunk.status()) << "it stays failed";
    EXPECT_EQ(reader_.ended(), ended);
    EXPECT_EQ(reader_.watermark_ms(), watermark_ms);
  }

  DeltaReader reader_{ExecutorId{kSender}, ExecutorId{kLeader}, sizeof(Entry)};
};

TEST_F(DeltaReaderTest, HandsOutTheEntriesWhereTheyLie) {
  const HandMadeDelta delta = Chunk(1);
  const auto chunk = reader_.Read(delta.message());
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->tag.epoch, 1U);
  EXPECT_EQ(chunk->entries.data(), delta.payload.data());
  EXPECT_EQ(chunk->entries.size(), 2 * sizeof(Entry));
  EXPECT_EQ(chunk->tag.entry_count, 2U);
  EXPECT_FALSE(chunk->marker.has_value());
  EXPECT_EQ(reader_.ended(), EpochId{0});
  EXPECT_EQ(reader_.watermark_ms(), std::numeric_limits<std::int64_t>::min());
}

TEST_F(DeltaReaderTest, AMarkerEndsTheEpochAndMovesTheWatermark) {
  ExpectRead(Chunk(1));
  ExpectRead(Chunk(1));
  const auto chunk = reader_.Read(End(1, 700).message());
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->entries.size(), 2 * sizeof(Entry));
  ASSERT_TRUE(chunk->marker.has_value());
  EXPECT_EQ(chunk->marker->watermark_ms, 700);
  EXPECT_EQ(reader_.current(), EpochId{1});
  EXPECT_EQ(reader_.ended(), EpochId{1});
  EXPECT_EQ(reader_.watermark_ms(), 700);
  ExpectRead(Chunk(2));
  EXPECT_EQ(reader_.current(), EpochId{2});
  EXPECT_EQ(reader_.ended(), EpochId{1});
}

TEST_F(DeltaReaderTest, AnEpochMayBeAMarkerAlone) {
  for (std::uint64_t epoch = 1; epoch < 10; ++epoch) {
    ExpectRead({epoch, std::vector<Entry>(), MarkerOf(kSender, epoch, 5)});
  }
  ExpectRead({10, std::vector<Entry>(), MarkerOf(kSender, 10, std::numeric_limits<std::int64_t>::max())});
}

TEST_F(DeltaReaderTest, RefusesTheChunkOfALaterEpoch) { ExpectRefused(Chunk(2), "it belongs to epoch 2, expected 1"); }

TEST_F(DeltaReaderTest, RefusesAGapBetweenEpochs) {
  ExpectRead(End(1));
  ExpectRefused(End(3), "it belongs to epoch 3, expected 2");
}

TEST_F(DeltaReaderTest, RefusesAChunkOfAnEndedEpoch) {
  ExpectRead(End(1));
  ExpectRefused(Chunk(1), "it belongs to epoch 1, expected 2");
}

TEST_F(DeltaReaderTest, RefusesTheSameMarkerTwice) {
  ExpectRead(End(1));
  ExpectRefused(End(1), "it belongs to epoch 1, expected 2");
}

TEST_F(DeltaReaderTest, RefusesEntriesOfAnotherSize) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.entry_bytes = sizeof(Entry) + 8;
  ExpectRefused(delta, "its entries have 32 bytes, expected 24");
}

TEST_F(DeltaReaderTest, RefusesAPayloadThatIsShorterOrLongerThanItsEntries) {
  HandMadeDelta delta = Chunk(1);
  delta.payload_bytes -= 1;
  ExpectRefused(delta, "its payload of 47 bytes does not match 2 entries");
  reader_ = DeltaReader(ExecutorId{kSender}, ExecutorId{kLeader}, sizeof(Entry));
  delta.payload_bytes += 2;
  ExpectRefused(delta, "its payload of 49 bytes does not match 2 entries");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatIsNotThere) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.has_marker = 1;
  ExpectRefused(delta, "does not match 2 entries and a marker");
}

TEST_F(DeltaReaderTest, RefusesAnEntryCountThatOverflowsThePayload) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.entry_count = 0xFFFFFFFF;
  ExpectRefused(delta, "does not match 4294967295 entries");
}

TEST_F(DeltaReaderTest, RefusesAnotherInputAndAMarkerFlagThatItDoesNotKnow) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.input = 1;
  ExpectRefused(delta, "input 1 and marker flag 0 are not those of input 0");
  reader_ = DeltaReader(ExecutorId{kSender}, ExecutorId{kLeader}, sizeof(Entry));
  delta = End(1);
  delta.tag.has_marker = 2;
  ExpectRefused(delta, "input 0 and marker flag 2 are not those of input 0");
}

TEST_F(DeltaReaderTest, RefusesAWatermarkThatGoesBack) {
  ExpectRead(End(1, 700));
  ExpectRead(End(2, 700));
  ExpectRefused(End(3, 699), "its watermark goes back from 700 ms to 699 ms");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatSpeaksForSomeoneElse) {
  ExpectRefused({1, Entries(1), MarkerOf(kSender + 1, 1, 0)}, "its marker speaks of epoch 1 and executor 4");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatSpeaksOfAnotherEpoch) {
  ExpectRefused({1, Entries(1), MarkerOf(kSender, 2, 0)}, "its marker speaks of epoch 2 and executor 3");
}

TEST_F(DeltaReaderTest, RefusesAnIdleFlagThatItDoesNotKnow) {
  EpochMarker marker = MarkerOf(kSender, 1, 0);
  marker.idle = 1;
  ExpectRead({1, Entries(1), marker});
  marker = MarkerOf(kSender, 2, 0);
  marker.idle = 2;
  ExpectRefused({2, Entries(1), marker}, "its marker's idle flag is 2");
}

TEST_F(DeltaReaderTest, RefusesATimeThatNoClockShows) {
  EpochMarker marker = MarkerOf(kSender, 1, 0);
  marker.boundary_read_ns = -1;
  ExpectRefused({1, Entries(1), marker}, "its marker was read at -1 ns");
}

}  // namespace
}  // namespace glaive::state
