// Tumbling, Sliding, Session and Unbounded: how a query groups records by event time:
// `.Window(Tumbling{absl::Minutes(10)})`.
//
// Tumbling and sliding windows start at multiples of their slide, counted from 1970. A record belongs to the windows
// that cover its event time. Lengths are whole milliseconds, at least 1. Other lengths are a defect of the query.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/base/check.h"

namespace glaive::engine {

/// Windows of one length that follow each other without gap or overlap.
struct Tumbling {
  absl::Duration size;
};

/// Windows of one length, a new one every `slide`, which is at most `size`. A leader has a table for each slide of a
/// window, of 4 KiB at least. Some 2^19 slides in a window of 1 ms slides are the most: event times until 2248 fit
/// then.
struct Sliding {
  absl::Duration size;
  absl::Duration slide;
};

/// Windows of each key's own: a session goes on as long as the next record comes less than `gap` after one of it. It
/// covers its records' event times and the gap behind the last.
struct Session {
  absl::Duration gap;
};

/// No windows: everything since the beginning. For each multiple of `every`, counted from 1970, that the watermark
/// passes, and for the next one at the end of the stream: a result for each key that has changed since the one before,
/// the aggregate of all its records before that time. A record that is behind the watermark counts from the next one
/// on; none is late. Without `every` there is one result a key, at the end. A leader has a table of all keys.
struct Unbounded {
  absl::Duration every = absl::InfiniteDuration();
};

/// A window of event time, as functions of Process are told of it: it covers [start_ms, end_ms).
struct TimeWindow {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;

  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;
};

/// What Window() takes.
template <typename W>
inline constexpr bool kIsWindow = std::is_same_v<W, Tumbling> || std::is_same_v<W, Sliding> ||
                                  std::is_same_v<W, Session> || std::is_same_v<W, Unbounded>;

/// A window by the time at which records reach it, whatever event time they have (engine/graph/processing_times.h).
template <typename W>
struct ProcessingTimeWindow {
  W window;
};
template <typename W>
inline constexpr bool kIsProcessingTimeWindow = false;
template <typename W>
inline constexpr bool kIsProcessingTimeWindow<ProcessingTimeWindow<W>> = true;

/// `.Window(ProcessingTime(Tumbling{absl::Seconds(1)}))`
template <typename W>
  requires kIsWindow<W>
ProcessingTimeWindow<W> ProcessingTime(const W& window) {
  return {window};
}

/// A window's kind, for messages.
template <typename W>
constexpr const char* WindowName() {
  return std::is_same_v<W, Tumbling>  ? "tumbling"
         : std::is_same_v<W, Sliding> ? "sliding"
         : std::is_same_v<W, Session> ? "session"
                                      : "unwindowed";
}

/// A window as --explain shows it: "tumbling windows of 10s".
inline std::string WindowText(const Tumbling& window) {
  return absl::StrCat("tumbling windows of ", absl::FormatDuration(window.size));
}
inline std::string WindowText(const Sliding& window) {
  return absl::StrCat("sliding windows of ", absl::FormatDuration(window.size), ", one each ",
                      absl::FormatDuration(window.slide));
}
inline std::string WindowText(const Session& window) {
  return absl::StrCat("sessions that gaps of ", absl::FormatDuration(window.gap), " end");
}
inline std::string WindowText(const Unbounded& window) {
  return window.every == absl::InfiniteDuration()
             ? "no window"
             : absl::StrCat("no window, results each ", absl::FormatDuration(window.every));
}

/// An allowed lateness in ms. Whole milliseconds, not negative, else the process ends with a message.
inline std::int64_t WholeLateness(absl::Duration lateness) {
  const std::int64_t millis = absl::ToInt64Milliseconds(lateness);
  GLAIVE_CHECK(millis >= 0 && absl::Milliseconds(millis) == lateness, "an allowed lateness of ",
               absl::FormatDuration(lateness), "; it must be whole milliseconds, not negative");
  return millis;
}

}  // namespace glaive::engine
