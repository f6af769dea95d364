// The arithmetic of windows and of the pieces of their slices, against the definition, time by time.

#include "engine/window/windows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "rdma/base/ids.h"

namespace glaive::engine {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;  // of windows, the first and the last

struct Shape {
  std::int64_t size_ms;
  std::int64_t slide_ms;
};

constexpr Shape kShapes[] = {{1, 1}, {10, 10}, {10, 5}, {12, 3}, {10, 3}, {7, 4}, {7, 5}, {9, 1}, {8, 7}};

Windows Make(const Shape& shape) {
  return Windows(Sliding{absl::Milliseconds(shape.size_ms), absl::Milliseconds(shape.slide_ms)});
}

// The windows that cover a time and end after a watermark.
std::optional<Range> OpenWindowsOf(const Shape& shape, std::int64_t time_ms, std::int64_t watermark_ms) {
  std::optional<Range> range;
  for (std::int64_t window = -100; window <= 100; ++window) {
    const std::int64_t start_ms = window * shape.slide_ms;
    const std::int64_t end_ms = start_ms + shape.size_ms;
    if (start_ms > time_ms || time_ms >= end_ms || end_ms <= watermark_ms) continue;
    range = range ? Range{range->first, window} : Range{window, window};
  }
  return range;
}

TEST(Windows, ARecordsPieceCountsForTheOpenWindowsThatCoverIt) {
  for (const Shape& shape : kShapes) {
    const Windows windows = Make(shape);
    for (std::int64_t time_ms = -40; time_ms <= 40; ++time_ms) {
      for (std::int64_t watermark_ms = -40; watermark_ms <= 60; ++watermark_ms) {
        const auto expected = OpenWindowsOf(shape, time_ms, watermark_ms);
        const auto place = windows.PlaceOf(time_ms, watermark_ms);
        ASSERT_EQ(place.has_value(), expected.has_value()) << time_ms << " after " << watermark_ms;
        if (!place) continue;
        const Range range = {windows.FirstWindowOf(place->piece), windows.LastWindowOf(place->piece)};
        ASSERT_EQ(range, *expected) << "size " << shape.size_ms << ", slide " << shape.slide_ms << ", time " << time_ms
                                    << " after " << watermark_ms;
        ASSERT_EQ(place->closes_ms, expected->first * shape.slide_ms + shape.size_ms);
        ASSERT_EQ(place->partly_late, range != *OpenWindowsOf(shape, time_ms, kMinEventTimeMs));
        const state::SliceRange open = windows.OpenAt(watermark_ms);
        ASSERT_TRUE(place->piece >= open.first && place->piece <= open.last);
        ASSERT_LE(place->start_ms, time_ms);
        ASSERT_GT(place->end_ms, time_ms);
        for (std::int64_t other_ms = place->start_ms; other_ms < place->end_ms; ++other_ms) {
          ASSERT_EQ(windows.PlaceOf(other_ms, watermark_ms)->piece, place->piece);
        }
      }
    }
  }
}

TEST(Windows, ASliceIsCutOnlyWhereAWindowStartsOrEnds) {
  for (const Shape& shape : kShapes) {
    const Windows windows = Make(shape);
    std::int64_t cuts = 0;
    for (std::int64_t time_ms = 0; time_ms < 3 * shape.slide_ms; ++time_ms) {
      cuts += windows.PlaceOf(time_ms, kMinEventTimeMs)->start_ms == time_ms ? 1 : 0;
    }
    EXPECT_EQ(cuts, shape.size_ms % shape.slide_ms == 0 ? 3 : 6);
  }
}

TEST(Windows, PiecesThatAWatermarkLeavesOpenAreThoseWhoseFirstWindowIs) {
  for (const Shape& shape : kShapes) {
    const Windows windows = Make(shape);
    for (std::int64_t watermark_ms = -40; watermark_ms <= 40; ++watermark_ms) {
      const state::SliceRange open = windows.OpenAt(watermark_ms);
      for (std::int64_t time_ms = -40; time_ms <= 40; ++time_ms) {
        const state::SliceId piece = windows.PlaceOf(time_ms, kMinEventTimeMs)->piece;
        const Range covering = *OpenWindowsOf(shape, time_ms, kMinEventTimeMs);
        const bool is_open = covering.first * shape.slide_ms + shape.size_ms > watermark_ms;
        ASSERT_EQ(piece >= open.first && piece <= open.last, is_open) << time_ms << " after " << watermark_ms;
      }
      const std::int64_t next_ms = windows.NextEndMs(watermark_ms);
      ASSERT_GT(next_ms, watermark_ms);
      ASSERT_LE(next_ms - watermark_ms, shape.slide_ms);
      ASSERT_EQ((next_ms - shape.size_ms) % shape.slide_ms, 0);
    }
  }
}

TEST(Windows, ATumblingPieceHasItsWindowsNumber) {
  const Windows windows(Tumbling{absl::Milliseconds(10)});
  EXPECT_EQ(windows.PlaceOf(19, kMinEventTimeMs)->piece, state::SliceId{1});
  EXPECT_EQ(windows.PlaceOf(-1, kMinEventTimeMs)->piece, state::SliceId{-1});
  EXPECT_EQ(windows.OpenAt(19).first, state::SliceId{1});
  EXPECT_EQ(windows.OpenAt(20).first, state::SliceId{2});
  EXPECT_EQ(windows.FirstPieceOf(7), state::SliceId{7});
}

TEST(Windows, TheEndsOfEventTimeHaveWindowsThatCanBeWritten) {
  for (const std::int64_t size_ms : {1, 7, 10, 600'000}) {
    const Windows windows(Tumbling{absl::Milliseconds(size_ms)});
    const state::SliceRange all = windows.OpenAt(kMinEventTimeMs);
    EXPECT_EQ(Value(all.first), kMinEventTimeMs / size_ms);
    EXPECT_GE(windows.EndMs(Value(all.last)), kMaxEventTimeMs - size_ms) << "the next one would not fit";
    const state::SliceRange none = windows.OpenAt(kMaxEventTimeMs);
    EXPECT_GT(none.first, none.last) << "a flow that has ended changes nothing";
    EXPECT_EQ(windows.NextEndMs(kMaxEventTimeMs), windows.EndMs(Value(all.last)));
  }
}

TEST(Windows, TimesTooFarForANumberAreLate) {
  const Windows windows(Sliding{absl::Hours(1), absl::Milliseconds(10)});
  EXPECT_TRUE(windows.PlaceOf(std::int64_t{1'000} * 365 * 86'400'000, kMinEventTimeMs)) << "the year 2969";
  EXPECT_FALSE(windows.PlaceOf(kMaxEventTimeMs - 1, kMinEventTimeMs));
  EXPECT_FALSE(windows.PlaceOf(kMinEventTimeMs, kMinEventTimeMs));
}

TEST(Windows, EveryPieceThatMayBeSentHasAnEndThatCanBeWritten) {
  for (const Shape& shape : kShapes) {
    const Windows windows = Make(shape);
    const state::SliceRange all = windows.OpenAt(kMinEventTimeMs);
    EXPECT_GT(windows.EndMs(windows.LastWindowOf(all.last)), windows.StartMs(windows.FirstWindowOf(all.last)));
    EXPECT_LT(windows.StartMs(windows.FirstWindowOf(all.first)), windows.EndMs(windows.FirstWindowOf(all.first)));
  }
}

TEST(Windows, OfASessionLastAGapAndRefuseWhatIsBehindTheWatermark) {
  const Windows windows(Session{absl::Milliseconds(10)});
  for (std::int64_t time_ms = -25; time_ms <= 25; ++time_ms) {
    for (std::int64_t watermark_ms = -25; watermark_ms <= 35; ++watermark_ms) {
      const auto place = windows.PlaceOf(time_ms, watermark_ms);
      ASSERT_EQ(place.has_value(), time_ms >= watermark_ms);
      if (!place) continue;
      ASSERT_EQ(windows.StartMs(windows.FirstWindowOf(place->piece)), time_ms - ((time_ms % 10) + 10) % 10);
      ASSERT_LE(place->start_ms, time_ms);
      ASSERT_GT(place->end_ms, time_ms);
      ASSERT_GT(place->closes_ms, watermark_ms);
      for (std::int64_t later_ms = watermark_ms; later_ms < place->closes_ms; ++later_ms) {
        for (std::int64_t other_ms = place->start_ms; other_ms < place->end_ms; ++other_ms) {
          ASSERT_EQ(windows.PlaceOf(other_ms, later_ms)->piece, place->piece);
        }
      }
    }
  }
}

TEST(Windows, WithoutBoundsARecordCountsFromTheFirstResultOnThatItsFlowHasNotPassed) {
  const Windows windows(Unbounded{absl::Milliseconds(10)});
  for (std::int64_t time_ms = -25; time_ms <= 25; ++time_ms) {
    for (std::int64_t watermark_ms = -25; watermark_ms <= 35; ++watermark_ms) {
      const auto place = windows.PlaceOf(time_ms, watermark_ms);
      ASSERT_TRUE(place.has_value());
      std::int64_t shown_ms = -30;
      while (shown_ms <= time_ms || shown_ms <= watermark_ms) shown_ms += 10;
      ASSERT_EQ(windows.EndMs(windows.FirstWindowOf(place->piece)), shown_ms);
      ASSERT_EQ(place->partly_late, shown_ms > time_ms + 10);
      ASSERT_GE(place->piece, windows.OpenAt(watermark_ms).first);
      ASSERT_LE(place->start_ms, time_ms);
      ASSERT_GT(place->end_ms, time_ms);
      ASSERT_GT(place->closes_ms, watermark_ms);
      for (std::int64_t later_ms = watermark_ms; later_ms < std::min<std::int64_t>(place->closes_ms, 60); ++later_ms) {
        for (std::int64_t other_ms = std::max<std::int64_t>(place->start_ms, -60);
             other_ms < std::min<std::int64_t>(place->end_ms, 60); ++other_ms) {
          ASSERT_EQ(windows.PlaceOf(other_ms, later_ms)->piece, place->piece);
          ASSERT_EQ(windows.PlaceOf(other_ms, later_ms)->partly_late, place->partly_late);
        }
      }
    }
  }
}

TEST(Windows, WithoutBoundsAndIntervalAreOneThatEndsWithEventTime) {
  const Windows windows(Unbounded{});
  for (const std::int64_t time_ms : {kMinEventTimeMs, std::int64_t{-1}, std::int64_t{0}, kMaxEventTimeMs - 1}) {
    for (const std::int64_t watermark_ms : {kMinEventTimeMs, std::int64_t{-1}, std::int64_t{7}, kMaxEventTimeMs - 1}) {
      const auto place = windows.PlaceOf(time_ms, watermark_ms);
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->piece, state::SliceId{0});
      EXPECT_EQ(place->start_ms, kMinEventTimeMs);
      EXPECT_EQ(place->end_ms, kMaxEventTimeMs) << "no record leaves the place of the first";
      EXPECT_EQ(place->closes_ms, kMaxEventTimeMs);
      EXPECT_FALSE(place->partly_late);
      EXPECT_EQ(windows.NextEndMs(watermark_ms), kMaxEventTimeMs);
    }
  }
  EXPECT_GT(windows.OpenAt(kMaxEventTimeMs).first, windows.OpenAt(kMaxEventTimeMs).last);
}

TEST(Windows, WithoutBoundsTimesNearTheBeginningOfTheScaleCountFromTheFirstResultOn) {
  const Windows windows(Unbounded{absl::Milliseconds(10)});
  const auto place = windows.PlaceOf(kMinEventTimeMs, kMinEventTimeMs);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->piece, windows.OpenAt(kMinEventTimeMs).first);
  EXPECT_LE(place->start_ms, kMinEventTimeMs);
}

TEST(Windows, SlidingWindowsThatMakeNoSenseAreRefusedWithTheRemedy) {
  const auto complaint = [](absl::Duration size, absl::Duration slide) {
    const absl::Status status = Windows::Validate(Sliding{size, slide});
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(complaint(absl::Seconds(1), absl::Seconds(1)), "");
  EXPECT_EQ(complaint(absl::Seconds(1), absl::Milliseconds(1)), "");
  EXPECT_EQ(complaint(absl::Hours(24 * 365), absl::Hours(1)), "");
  for (const absl::Duration slide :
       {absl::ZeroDuration(), -absl::Seconds(1), absl::Microseconds(1500), absl::Hours(2)}) {
    EXPECT_NE(complaint(absl::Hours(1), slide).find("the slide at most the size"), std::string::npos) << slide;
  }
  for (const absl::Duration size : {absl::Seconds(600), absl::Hours(24 * 365)}) {
    EXPECT_NE(complaint(size, absl::Milliseconds(1)).find("use a longer slide"), std::string::npos) << size;
  }
}

TEST(WindowsDeathTest, AWindowIsWholeMillisecondsAndNotEmpty) {
  for (const absl::Duration size : {absl::ZeroDuration(), absl::Microseconds(500), absl::Microseconds(1500),
                                    -absl::Seconds(1), absl::InfiniteDuration()}) {
    EXPECT_DEATH(Windows(Tumbling{size}), "a tumbling window of .* must be whole milliseconds, at least 1");
    EXPECT_DEATH(Windows(Sliding{absl::Seconds(1), size}), "a sliding window of 1s every .* at most the size");
  }
  for (const absl::Duration every : {absl::ZeroDuration(), absl::Microseconds(1500), -absl::InfiniteDuration()}) {
    EXPECT_DEATH(Windows(Unbounded{every}), "unbounded results every .* whole milliseconds, at least 1, or infinite");
  }
  EXPECT_DEATH(Windows(Sliding{absl::Seconds(1), absl::Seconds(2)}), "the slide at most the size");
  EXPECT_DEATH(Windows(Sliding{absl::Hours(1), absl::Milliseconds(1)}), "overlaps too far");
}

}  // namespace
}  // namespace glaive::engine
