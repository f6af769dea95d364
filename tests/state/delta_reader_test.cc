#include "state/epoch/delta_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
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

using Update = DeltaUpdate<std::uint32_t, float>;
using Form = DeltaForm<std::uint64_t, CountValue>;

constexpr std::uint32_t kSender = 3;
constexpr std::uint32_t kLeader = 5;
constexpr DeltaEntryBytes kEntryBytes{.update = sizeof(Update), .form = sizeof(Form)};
static_assert(sizeof(Update) == 8 && sizeof(Form) == 16);

class DeltaReaderTest : public testing::Test {
 protected:
  static std::vector<Update> Updates(std::size_t count) {
    return std::vector<Update>(count, Update{.key = 2, .input = 3});
  }
  static std::vector<Form> Forms(std::size_t count) { return std::vector<Form>(count, Form{.key = 2, .form = {}}); }
  static HandMadeDelta Chunk(std::uint64_t epoch) { return HandMadeDelta(epoch).AddRun(SliceId{1}, Updates(2)); }
  static HandMadeDelta End(std::uint64_t epoch, std::int64_t watermark_ms = 0) {
    return Chunk(epoch).AddMarker(MarkerOf(kSender, epoch, watermark_ms));
  }

  void ExpectRead(const HandMadeDelta& delta) {
    const auto chunk = reader_.Read(delta.message());
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    EXPECT_EQ(chunk->tag, delta.tag);
  }

  /// The error names both executors, the last good epoch and what is wrong.
  void ExpectNames(const absl::Status& status, const std::string& what) {
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("executor 5 refuses a delta of executor 3"),
                      HasSubstr("after its epoch " + std::to_string(Value(reader_.ended()))), HasSubstr(what)));
  }
  /// Nothing is read after an error.
  void ExpectStaysFailed(const absl::Status& status) {
    EXPECT_EQ(reader_.Read(Chunk(Value(reader_.ended()) + 1).message()).status(), status);
    const HandMadeDelta good = Chunk(1);
    std::span<const std::byte> rest = good.payload;
    EXPECT_EQ(reader_.TakeRun(rest).status(), status);
    EXPECT_EQ(rest.size(), good.payload.size());
  }

  void ExpectRefused(const HandMadeDelta& delta, const std::string& what) {
    const EpochId ended = reader_.ended();
    const std::int64_t watermark_ms = reader_.watermark_ms();
    const auto chunk = reader_.Read(delta.message());
    ExpectNames(chunk.status(), what);
    ExpectStaysFailed(chunk.status());
    EXPECT_EQ(reader_.ended(), ended);
    EXPECT_EQ(reader_.watermark_ms(), watermark_ms);
  }

  /// The chunk is read, and as many of its runs are taken; the next one is refused, and takes nothing off the rest.
  void ExpectRunRefused(const HandMadeDelta& delta, int good_runs, const std::string& what) {
    const auto chunk = reader_.Read(delta.message());
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    std::span<const std::byte> rest = chunk->runs;
    for (int taken = 0; taken < good_runs; ++taken) {
      const auto run = reader_.TakeRun(rest);
      ASSERT_TRUE(run.ok()) << run.status();
    }
    const std::size_t left = rest.size();
    ASSERT_GT(left, 0U);
    const auto run = reader_.TakeRun(rest);
    ExpectNames(run.status(), what);
    EXPECT_EQ(rest.size(), left);
    ExpectStaysFailed(run.status());
  }

  void Restart(const DeltaEntryBytes& entry_bytes = kEntryBytes) {
    reader_ = DeltaReader(ExecutorId{kSender}, ExecutorId{kLeader}, entry_bytes);
  }

  DeltaReader reader_{ExecutorId{kSender}, ExecutorId{kLeader}, kEntryBytes};
};

TEST_F(DeltaReaderTest, HandsOutTheRunsWhereTheyLie) {
  const HandMadeDelta delta = Chunk(1);
  const auto chunk = reader_.Read(delta.message());
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->tag.epoch, 1U);
  EXPECT_EQ(chunk->runs.data(), delta.payload.data());
  EXPECT_EQ(chunk->runs.size(), 24U + 2 * 8) << "a header and two entries";
  EXPECT_FALSE(chunk->marker.has_value());
  EXPECT_EQ(reader_.ended(), EpochId{0});
  EXPECT_EQ(reader_.watermark_ms(), std::numeric_limits<std::int64_t>::min());
}

TEST_F(DeltaReaderTest, TakesRunsOfEitherKindOneAfterTheOther) {
  const HandMadeDelta delta = HandMadeDelta(1)
                                  .AddRun(SliceId{7}, Updates(3))
                                  .AddRun(SliceId{-8}, Forms(2))
                                  .AddRun(SliceId{9}, Updates(1))
                                  .AddMarker(MarkerOf(kSender, 1, 0));
  const auto chunk = reader_.Read(delta.message());
  ASSERT_TRUE(chunk.ok());
  std::span<const std::byte> rest = chunk->runs;
  const std::byte* next = delta.payload.data();
  struct Expected {
    SliceId slice;
    DeltaKind kind;
    std::uint32_t entry_count;
    std::size_t entry_bytes;
  };
  for (const auto& [slice, kind, entry_count, entry_bytes] :
       {Expected{SliceId{7}, DeltaKind::kUpdate, 3, sizeof(Update)},
        Expected{SliceId{-8}, DeltaKind::kForm, 2, sizeof(Form)},
        Expected{SliceId{9}, DeltaKind::kUpdate, 1, sizeof(Update)}}) {
    ASSERT_FALSE(rest.empty());
    const auto run = reader_.TakeRun(rest);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->slice, slice);
    EXPECT_EQ(run->kind, kind);
    EXPECT_EQ(run->entry_count, entry_count);
    EXPECT_EQ(run->entries.data(), next + sizeof(DeltaRunHeader));
    EXPECT_EQ(run->entries.size(), entry_count * entry_bytes);
    next += sizeof(DeltaRunHeader) + entry_count * entry_bytes;  // whole words, so nothing is padded
  }
  EXPECT_TRUE(rest.empty()) << "the marker is none of the runs";
}

struct Odd {
  static constexpr DeltaKind kKind = DeltaKind::kUpdate;
  std::uint8_t bytes[3];
};

TEST_F(DeltaReaderTest, SkipsThePaddingBehindEntriesOfAnOddSize) {
  Restart({.update = sizeof(Odd), .form = 0});
  for (std::size_t count = 1; count <= 9; ++count) {
    const std::vector<Odd> entries(count, Odd{{1, 2, 3}});
    const HandMadeDelta delta = HandMadeDelta(1).AddRun(SliceId{1}, entries).AddRun(SliceId{2}, entries);
    const auto chunk = reader_.Read(delta.message());
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    std::span<const std::byte> rest = chunk->runs;
    for (const std::int64_t slice : {1, 2}) {
      const auto run = reader_.TakeRun(rest);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_EQ(run->slice, SliceId{slice});
      EXPECT_EQ(run->entries.size(), 3 * count);
    }
    EXPECT_TRUE(rest.empty());
  }
}

TEST_F(DeltaReaderTest, AMarkerEndsTheEpochAndMovesTheWatermark) {
  ExpectRead(Chunk(1));
  ExpectRead(Chunk(1));
  const auto chunk = reader_.Read(End(1, 700).message());
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->runs.size(), 24U + 2 * 8) << "a header and two entries";
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
    ExpectRead(HandMadeDelta(epoch).AddMarker(MarkerOf(kSender, epoch, 5)));
  }
  ExpectRead(HandMadeDelta(10).AddMarker(MarkerOf(kSender, 10, std::numeric_limits<std::int64_t>::max())));
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

TEST_F(DeltaReaderTest, RefusesAPayloadThatIsShorterOrLongerThanItsRuns) {
  HandMadeDelta delta = Chunk(1);
  delta.payload.resize(39);
  ExpectRefused(delta, "its payload of 39 bytes does not match 40 bytes of entries");
  Restart();
  delta.payload.resize(41);
  ExpectRefused(delta, "its payload of 41 bytes does not match 40 bytes of entries");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatIsNotThere) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.has_marker = 1;
  ExpectRefused(delta, "its payload of 40 bytes does not match 40 bytes of entries, a marker and 0 bytes of texts");
}

TEST_F(DeltaReaderTest, RefusesMoreBytesOfRunsThanThePayloadHas) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.runs_bytes = 0xFFFFFFF8;
  ExpectRefused(delta, "does not match 4294967288 bytes of entries");
}

TEST_F(DeltaReaderTest, RefusesRunsThatEndBetweenTheMultiplesOfEight) {
  for (const std::uint32_t odd : {1U, 4U, 7U}) {
    Restart();
    HandMadeDelta delta = Chunk(1);
    delta.payload.resize(delta.payload.size() + odd);
    delta.tag.runs_bytes += odd;
    ExpectRefused(delta, "bytes does not match " + std::to_string(40 + odd) + " bytes of entries");
  }
}

TEST_F(DeltaReaderTest, RefusesAnotherInputAndAMarkerFlagThatItDoesNotKnow) {
  HandMadeDelta delta = Chunk(1);
  delta.tag.input = 1;
  ExpectRefused(delta, "input 1 and marker flag 0 are not those of input 0");
  Restart();
  delta = End(1);
  delta.tag.has_marker = 2;
  ExpectRefused(delta, "input 0 and marker flag 2 are not those of input 0");
}

TEST_F(DeltaReaderTest, RefusesARunThatIsLongerThanTheChunk) {
  constexpr DeltaRunHeader kThreeOfTwo{.slice = SliceId{1}, .entry_count = 3, .kind = DeltaKind::kUpdate};
  ExpectRunRefused(HandMadeDelta(1).AddRunThatSays(kThreeOfTwo, Updates(2)), 0,
                   "a run of 3 entries of 8 bytes stands before the last 16 bytes");
  Restart();
  ExpectRunRefused(HandMadeDelta(1).AddRun(SliceId{1}, Forms(1)).AddRunThatSays(kThreeOfTwo, Updates(2)), 1,
                   "a run of 3 entries of 8 bytes stands before the last 16 bytes");
  Restart();
  ExpectRunRefused(HandMadeDelta(1)
                       .AddRunThatSays(kThreeOfTwo, Updates(2))
                       .AddMarker(MarkerOf(kSender, 1, 0)),  // which is not to be taken for an entry
                   0, "a run of 3 entries of 8 bytes stands before the last 16 bytes");
}

TEST_F(DeltaReaderTest, RefusesCountsWhoseBytesWouldOverflow) {
  for (const std::uint32_t entry_count : {0xFFFFFFFFU, 0x80000001U, 0x20000002U}) {  // 2 entries in 32 bits, and more
    Restart();
    ExpectRunRefused(HandMadeDelta(1).AddRunThatSays(
                         {.slice = SliceId{1}, .entry_count = entry_count, .kind = DeltaKind::kUpdate}, Updates(2)),
                     0,
                     "a run of " + std::to_string(entry_count) + " entries of 8 bytes stands before the last 16 bytes");
  }
}

TEST_F(DeltaReaderTest, RefusesARunWithoutEntries) {
  ExpectRunRefused(HandMadeDelta(1).AddHeader({.slice = SliceId{1}, .entry_count = 0, .kind = DeltaKind::kUpdate}), 0,
                   "a run of 0 entries of 8 bytes stands before the last 0 bytes");
}

TEST_F(DeltaReaderTest, RefusesAHeaderThatIsCutOff) {
  HandMadeDelta delta = Chunk(1);
  delta.payload.resize(delta.payload.size() + sizeof(DeltaRunHeader) - 8);
  delta.tag.runs_bytes += sizeof(DeltaRunHeader) - 8;
  ExpectRunRefused(delta, 1, "its last 16 bytes are no run of entries");
}

TEST_F(DeltaReaderTest, RefusesARunThatWasReadBeforeTheClocksBeginning) {
  ExpectRunRefused(HandMadeDelta(1).AddRunThatSays(
                       {.slice = SliceId{1}, .entry_count = 2, .kind = DeltaKind::kUpdate, .read_ns = -3}, Updates(2)),
                   0, "a run says that its records were read at -3 ns");
}

TEST_F(DeltaReaderTest, RefusesAKindThatItDoesNotKnow) {
  for (const std::uint32_t kind : {2U, 0xFFFFFFFFU}) {
    Restart();
    ExpectRunRefused(HandMadeDelta(1).AddRunThatSays(
                         {.slice = SliceId{1}, .entry_count = 2, .kind = static_cast<DeltaKind>(kind)}, Updates(2)),
                     0, "input 0 has no entries of kind " + std::to_string(kind));
  }
}

TEST_F(DeltaReaderTest, RefusesFormsWhereTheInputHasNone) {
  Restart({.update = sizeof(Update), .form = 0});
  ExpectRunRefused(HandMadeDelta(1).AddRun(SliceId{1}, Updates(1)).AddRun(SliceId{1}, Forms(1)), 1,
                   "input 0 has no entries of kind 1");
}

TEST_F(DeltaReaderTest, RefusesAWatermarkThatGoesBack) {
  ExpectRead(End(1, 700));
  ExpectRead(End(2, 700));
  ExpectRefused(End(3, 699), "its watermark goes back from 700 ms to 699 ms");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatSpeaksForSomeoneElse) {
  ExpectRefused(Chunk(1).AddMarker(MarkerOf(kSender + 1, 1, 0)), "its marker speaks of epoch 1 and executor 4");
}

TEST_F(DeltaReaderTest, RefusesAMarkerThatSpeaksOfAnotherEpoch) {
  ExpectRefused(Chunk(1).AddMarker(MarkerOf(kSender, 2, 0)), "its marker speaks of epoch 2 and executor 3");
}

TEST_F(DeltaReaderTest, RefusesAnIdleFlagThatItDoesNotKnow) {
  EpochMarker marker = MarkerOf(kSender, 1, 0);
  marker.idle = 1;
  ExpectRead(Chunk(1).AddMarker(marker));
  marker = MarkerOf(kSender, 2, 0);
  marker.idle = 2;
  ExpectRefused(Chunk(2).AddMarker(marker), "its marker's idle flag is 2");
}

TEST_F(DeltaReaderTest, RefusesATimeThatNoClockShows) {
  EpochMarker marker = MarkerOf(kSender, 1, 0);
  marker.boundary_read_ns = -1;
  ExpectRefused(Chunk(1).AddMarker(marker), "its marker was read at -1 ns");
}

}  // namespace
}  // namespace glaive::state
