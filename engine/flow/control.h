// Control: a watermark, idleness, its end, or the end of the stream. Controls flow along an edge of a query's graph in
// order with its records. Each kind is a type.
#pragma once

#include <cstdint>
#include <variant>

namespace glaive::engine {

/// No record behind it has an earlier event time, but for late ones. The watermarks of an edge ascend.
struct Watermark {
  std::int64_t time_ms = 0;
  /// When the batch was read that moved it this far, or, of a stage, the batch that completed its last window before.
  std::int64_t read_ns = 0;
};

/// Nothing has come for the idle timeout, or all flows of the stage upstream are idle: other streams need not wait for
/// this one. Idleness ends with an Active or with the end of the stream.
struct Idle {
  std::int64_t now_ns = 0;
};
struct Active {
  std::int64_t now_ns = 0;
};

/// Nothing follows: no record and no control.
struct EndOfStream {};

using Control = std::variant<Watermark, Idle, Active, EndOfStream>;

}  // namespace glaive::engine
