// Windows: the arithmetic of regular event-time windows, and of the slices that they are made of.
//
// Window w covers [w * slide, w * slide + size) ms; window 0 starts in 1970. Event time is cut wherever a window starts
// or ends. A slice lies between two cuts, so a record updates one slice, however many windows cover it. Where the slide
// divides the size there is one slice a slide, else there are two (paired windows: Krishnamurthy et al., SIGMOD 2006,
// section 3.2). A tumbling window is one slice.
//
// A record that is out of order may come when some of the windows of its slice are closed and others are not. It must
// not show in the closed ones, so it goes to another piece of the slice. A SliceId is the number of a piece. It says
// which slice, and which is the first window that the piece counts for:
//
//   SliceId = first window * slices of a window + place of the slice in that window
//
// Sessions are put together from slices of one gap's length. Two records of a slice are less than a gap apart, so all
// records of a key in a slice are of one session (stage/session_results.h). A session whose last record is a gap behind
// the watermarks of all flows is complete, since a record behind its own flow's watermark is late, whatever its slice.
//
// Without windows (Unbounded) event time is cut, too, where results are due, and window w is everything before (w + 1)
// * slide. A piece counts for its first window and all that follow, so its first window alone names it. A record behind
// the watermark joins the piece of the first open window.
//
//   1. A piece is complete when its first window is, and counts up to the last window of its slice.
//   2. Pieces are ordered by their first window. The new pieces of a window are the slices that no earlier window
//      covers, and the late pieces that count from this window on.
//   3. For tumbling windows a piece's number is its window's.
//
//   Windows windows(Sliding{absl::Minutes(1), absl::Seconds(1)});
//   std::optional<Windows::Place> place = windows.PlaceOf(event_time_ms, watermark_ms);
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

#include "engine/base/event_time.h"
#include "engine/window/window_spec.h"
#include "state/epoch/slice_id.h"

namespace glaive::engine {

/// See the head of this file. A value; every function costs some divisions at most.
class Windows {
 public:
  /// InvalidArgument with the remedy for lengths that are not whole milliseconds, a slide that is longer than the size,
  /// and windows that overlap so far that the numbers of their pieces would not last.
  static absl::Status Validate(const Sliding& windows);

  /// Dies of a specification that makes no sense.
  explicit Windows(const Tumbling& windows);
  explicit Windows(const Sliding& windows);
  explicit Windows(const Session& sessions);
  explicit Windows(const Unbounded& results);

  /// Where a record goes. It holds for all event times from `start_ms` to before `end_ms`, until the flow's watermark
  /// reaches `closes_ms`.
  struct Place {
    state::SliceId piece{};
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    std::int64_t closes_ms = 0;
    bool partly_late = false;  ///< for the first windows that cover the record it is late
  };

  /// None when the record is late: all its windows end at or before its flow's watermark, or, for sessions, its event
  /// time is before it. Times so far from 1970 that their pieces' numbers don't fit 64 bits count as late, too.
  std::optional<Place> PlaceOf(std::int64_t event_time_ms, std::int64_t watermark_ms) const;

  /// The first and the last window that a piece counts for.
  std::int64_t FirstWindowOf(state::SliceId piece) const;
  std::int64_t LastWindowOf(state::SliceId piece) const;

  /// The pieces that a flow with this watermark may still change.
  state::SliceRange OpenAt(std::int64_t watermark_ms) const;
  /// The first piece of a window's number or a greater one.
  state::SliceId FirstPieceOf(std::int64_t window) const;

  /// Whether the window covers a time.
  bool Covers(std::int64_t window, std::int64_t time_ms) const {
    return time_ms >= StartMs(window) && time_ms < EndMs(window);
  }
  std::int64_t StartMs(std::int64_t window) const { return window * slide_ms_; }
  std::int64_t EndMs(std::int64_t window) const { return StartMs(window) + size_ms_; }
  /// The end of the first window that ends after a time; the first and the last window stand for times beside them.
  std::int64_t NextEndMs(std::int64_t event_time_ms) const;

  /// How far results have come once all windows that end at or before `watermark_ms` have fired: the event time of
  /// every later result, its window's end - 1, is this or more.
  std::int64_t ResultsUntil(std::int64_t watermark_ms) const;
  /// By how much the watermark of results stays behind that of the records, at most: a window, and for sessions the gap
  /// behind them; results are told of from window to window.
  std::int64_t ResultDelayMs() const;
  /// The window's length, but no more than 16 slides: what leaders retain for each flow that leads by a window. None if
  /// windows do not end.
  std::optional<std::int64_t> RetainedMs() const;

  /// Whether all of event time is one window: Unbounded with results at the end only.
  bool has_one_window() const { return first_window_ == last_window_; }
  std::int64_t size_ms() const { return size_ms_; }
  std::int64_t slide_ms() const { return slide_ms_; }

 private:
  enum class Kind : std::uint8_t { kRegular, kSessions, kUnbounded };

  Windows(std::int64_t size_ms, std::int64_t slide_ms, Kind kind = Kind::kRegular);

  std::optional<Place> UnboundedPlaceOf(std::int64_t event_time_ms, std::int64_t watermark_ms) const;
  std::int64_t FirstEndingAfter(std::int64_t time_ms) const;
  bool paired() const { return rest_ms_ != 0; }
  /// Whether the numbers of all pieces until the year 2248 fit 64 bits.
  bool NumbersFit() const;

  std::int64_t size_ms_;
  std::int64_t slide_ms_;
  Kind kind_;
  std::int64_t rest_ms_;       // size modulo slide
  std::int64_t slices_;        // of a window
  std::int64_t first_window_;  // with a number that fits
  std::int64_t last_window_;
};

}  // namespace glaive::engine
