// ProgressLine: one line on the terminal that says how far this node's executors have come. It knows of no other node.
//
//   node 0: 12.3 M records, 58.1 M records/s, watermark 2020-09-13 12:50:00, 42 epochs, 1 of 4 executors idle
//
// Used by the node's main thread, twice a second. On a terminal it rewrites its line, cut to the terminal's width, and
// clears it at the end; elsewhere each is a line of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/executor/executor.h"
#include "engine/flags/engine_options.h"

namespace glaive::engine {

/// The bytes that clear the line of a terminal's cursor and move the cursor to the line's beginning.
inline constexpr char kClearLine[] = "\r\033[K";

/// Whether it is wanted: by --progress, or because standard error is a terminal.
bool ShowsProgress(ProgressChoice choice);

class ProgressLine {
 public:
  /// Silent unless `enabled`. `clock` outlives the line.
  ProgressLine(bool enabled, const Clock& clock);
  ~ProgressLine();

  /// Shows the executors' progress if it is time to.
  void Update(std::span<const std::unique_ptr<Executor>> executors);

 private:
  bool enabled_;
  const Clock* clock_;
  bool on_terminal_;
  bool shown_ = false;
  std::int64_t last_ns_ = 0;
  std::uint64_t last_records_ = 0;
};

}  // namespace glaive::engine
