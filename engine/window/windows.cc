#include "engine/window/windows.h"

#include <algorithm>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/base/check.h"
#include "rdma/base/ids.h"

namespace glaive::engine {
namespace {

// The year 2248.
constexpr std::int64_t kLeastReachMs = std::int64_t{1} << 43;

absl::int128 FloorDivide(absl::int128 dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}
std::int64_t FloorDivide(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

// The length in ms, if it is whole milliseconds and at least one; else 0.
std::int64_t WholeMillis(absl::Duration length) {
  const std::int64_t millis = absl::ToInt64Milliseconds(length);
  return millis >= 1 && absl::Milliseconds(millis) == length ? millis : 0;
}

// The same of an interval that may be infinite: event time has one then.
std::int64_t Every(absl::Duration interval) {
  return interval == absl::InfiniteDuration() ? kMaxEventTimeMs : WholeMillis(interval);
}

}  // namespace

Windows::Windows(const Tumbling& windows) : Windows(WholeMillis(windows.size), WholeMillis(windows.size)) {
  GLAIVE_CHECK(size_ms_ >= 1, "a tumbling window of ", absl::FormatDuration(windows.size),
               "; it must be whole milliseconds, at least 1");
}

absl::Status Windows::Validate(const Sliding& windows) {
  const Windows made(WholeMillis(windows.size), WholeMillis(windows.slide), Kind::kRegular);
  const std::string shown = absl::StrCat("a sliding window of ", absl::FormatDuration(windows.size), " every ",
                                         absl::FormatDuration(windows.slide));
  if (made.size_ms_ < 1 || made.slide_ms_ < 1 || made.slide_ms_ > made.size_ms_) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": both must be whole milliseconds, at least 1, and the slide at most the size"));
  }
  if (!made.NumbersFit()) {
    return absl::InvalidArgumentError(absl::StrCat(
        shown, " overlaps too far: the numbers of their pieces would end before the year 2248; use a longer slide"));
  }
  return absl::OkStatus();
}

Windows::Windows(const Sliding& windows) : Windows(WholeMillis(windows.size), WholeMillis(windows.slide)) {
  const absl::Status valid = Validate(windows);
  GLAIVE_CHECK(valid.ok(), valid.message());
}

Windows::Windows(const Session& sessions)
    : Windows(WholeMillis(sessions.gap), WholeMillis(sessions.gap), Kind::kSessions) {
  GLAIVE_CHECK(size_ms_ >= 1, "a session gap of ", absl::FormatDuration(sessions.gap),
               "; it must be whole milliseconds, at least 1");
}

Windows::Windows(const Unbounded& results) : Windows(Every(results.every), Every(results.every), Kind::kUnbounded) {
  GLAIVE_CHECK(size_ms_ >= 1, "unbounded results every ", absl::FormatDuration(results.every),
               "; it must be whole milliseconds, at least 1, or infinite");
}

Windows::Windows(std::int64_t size_ms, std::int64_t slide_ms, Kind kind)
    : size_ms_(size_ms),
      slide_ms_(slide_ms),
      kind_(kind),
      rest_ms_(slide_ms == 0 ? 0 : size_ms % slide_ms),
      slices_(slide_ms == 0 ? 1 : size_ms / slide_ms * (rest_ms_ == 0 ? 1 : 2) + (rest_ms_ == 0 ? 0 : 1)),
      first_window_(0),
      last_window_(0) {
  if (slide_ms_ == 0) {
    return;  // the caller refuses it
  }
  // Both a window's ends and the numbers of its pieces have to fit 64 bits.
  first_window_ = kMinEventTimeMs / slide_ms_;
  last_window_ = (kMaxEventTimeMs - size_ms_) / slide_ms_;
  if (kind_ == Kind::kSessions) {
    last_window_ -= 3;  // a session reaches past its slice by the gap, and its trigger reads ahead by another
  }
  if (slide_ms_ == kMaxEventTimeMs) {
    first_window_ = 0;  // there is but one
  }
  if (slices_ > 1) {
    // A piece of the last window may count for as many more.
    const std::int64_t most = kMaxEventTimeMs / 2 / std::max(slices_, slide_ms_);
    first_window_ = std::max(first_window_, -most);
    last_window_ = std::min(last_window_, most);
  }
}

bool Windows::NumbersFit() const {
  return slices_ <= 1 || (size_ms_ < kMaxEventTimeMs / 8 && StartMs(last_window_) >= kLeastReachMs);
}

std::int64_t Windows::FirstEndingAfter(std::int64_t time_ms) const {
  const absl::int128 window = FloorDivide(absl::int128(time_ms) - size_ms_, slide_ms_) + 1;
  return static_cast<std::int64_t>(std::clamp(window, absl::int128(first_window_), absl::int128(last_window_) + 1));
}

std::optional<Windows::Place> Windows::UnboundedPlaceOf(std::int64_t event_time_ms, std::int64_t watermark_ms) const {
  const std::int64_t due = std::max(FloorDivide(event_time_ms, slide_ms_), first_window_);
  const std::int64_t window = std::max(due, FirstEndingAfter(watermark_ms));
  if (window > last_window_) {
    return std::nullopt;
  }
  Place place{.piece = state::SliceId{window},
              .start_ms = window == first_window_ ? kMinEventTimeMs : StartMs(window),
              .end_ms = EndMs(window),
              .closes_ms = EndMs(window),
              .partly_late = window > due};
  if (place.partly_late) {  // as is all that is further behind
    place.end_ms = place.start_ms;
    place.start_ms = kMinEventTimeMs;
  }
  return place;
}

std::optional<Windows::Place> Windows::PlaceOf(std::int64_t event_time_ms, std::int64_t watermark_ms) const {
  if (kind_ == Kind::kUnbounded) {
    return UnboundedPlaceOf(event_time_ms, watermark_ms);
  }
  const std::int64_t last = FloorDivide(event_time_ms, slide_ms_);  // the last window that covers it
  if (last < first_window_ || last > last_window_) {
    return std::nullopt;
  }
  const std::int64_t start_ms = StartMs(last);
  const bool second = paired() && event_time_ms - start_ms >= rest_ms_;
  const std::int64_t slice = paired() ? 2 * last + (second ? 1 : 0) : last;
  const std::int64_t covering = size_ms_ / slide_ms_ + (paired() && !second ? 1 : 0);  // so many windows
  const std::int64_t first = std::max(last - covering + 1, first_window_);
  const std::int64_t window = std::max(first, FirstEndingAfter(watermark_ms));
  if (window > last || (kind_ == Kind::kSessions && event_time_ms < watermark_ms)) {
    return std::nullopt;
  }
  Place place{.piece = state::SliceId{window * slices_ + slice - (paired() ? 2 : 1) * window},
              .start_ms = second ? start_ms + rest_ms_ : start_ms,
              .end_ms = paired() && !second ? start_ms + rest_ms_ : start_ms + slide_ms_,
              .closes_ms = EndMs(window),
              .partly_late = window > first};
  if (kind_ == Kind::kSessions) {  // times behind the watermark are late
    place.start_ms = std::max(place.start_ms, watermark_ms);
    place.closes_ms = place.start_ms + 1;
  }
  return place;
}

std::int64_t Windows::FirstWindowOf(state::SliceId piece) const { return FloorDivide(Value(piece), slices_); }

std::int64_t Windows::LastWindowOf(state::SliceId piece) const {
  const std::int64_t first = FirstWindowOf(piece);
  const std::int64_t place = Value(piece) - first * slices_;
  return first + place / (paired() ? 2 : 1);
}

state::SliceRange Windows::OpenAt(std::int64_t watermark_ms) const {
  return {.first = FirstPieceOf(FirstEndingAfter(watermark_ms)),
          .last = state::SliceId{last_window_ * slices_ + slices_ - 1}};
}

state::SliceId Windows::FirstPieceOf(std::int64_t window) const { return state::SliceId{window * slices_}; }

std::int64_t Windows::ResultsUntil(std::int64_t watermark_ms) const {
  if (kind_ != Kind::kSessions || watermark_ms == kEndedMs || watermark_ms < kMinEventTimeMs + slide_ms_) {
    return watermark_ms;
  }
  // A session whose last record is in the last slice that is complete goes on until the next one is.
  return FloorDivide(watermark_ms, slide_ms_) * slide_ms_ - 1;
}

std::int64_t Windows::ResultDelayMs() const {
  constexpr std::int64_t kMostMs = kMaxEventTimeMs / 8;
  return 2 * std::min(size_ms_, kMostMs) + 1;
}

std::optional<std::int64_t> Windows::RetainedMs() const {
  constexpr std::int64_t kMaxSlides = 16;
  if (slide_ms_ >= kMaxEventTimeMs / kMaxSlides) {
    return std::nullopt;
  }
  return std::min(size_ms_, kMaxSlides * slide_ms_);
}

std::int64_t Windows::NextEndMs(std::int64_t event_time_ms) const {
  return EndMs(std::min(FirstEndingAfter(event_time_ms), last_window_));
}

}  // namespace glaive::engine
