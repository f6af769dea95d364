// Sink: where a leader's results go.
//
// Every leader opens its own sink and writes the rows of the keys it leads, window by window. A sink belongs to its
// executor's thread.
//
//   1. Finish is called once, after the leader's last row.
//   2. Commit is called once, after every leader of the run has finished without error. What a sink holds back until
//      then (a file's final name, say) never stands for half a result.
//
//   query.To(Collect(rows));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"

namespace glaive::engine {

/// A fired window's result for one key: the aggregate of all its records with event time in [start, end).
template <typename K, typename T>
struct WindowResult {
  std::int64_t window_start_ms = 0;
  std::int64_t window_end_ms = 0;
  K key{};
  T value{};

  friend bool operator==(const WindowResult&, const WindowResult&) = default;
};

template <typename Row>
class Sink {
 public:
  virtual ~Sink() = default;

  /// Takes rows, at most a few thousand; they may be overwritten afterwards.
  virtual absl::Status Write(std::span<const Row> rows) = 0;
  /// Flushes what was written; it may still come to nothing.
  virtual absl::Status Finish() { return absl::OkStatus(); }
  /// Makes it final; on any thread, once the executors have stopped.
  virtual absl::Status Commit() { return absl::OkStatus(); }
};

struct SinkContext {
  ExecutorId executor{};
  std::uint32_t executor_count = 1;
};

/// Opens a leader's sink; on its executor's own thread, before the run's clock starts.
template <typename Row>
using SinkFactory = std::function<absl::StatusOr<std::unique_ptr<Sink<Row>>>(const SinkContext&)>;

/// What `.To()` takes: something that makes the factory once the type of the rows is known.
template <typename S, typename Row>
concept SinkSpecFor = requires(const S& spec) {
  { spec.template Factory<Row>() } -> std::convertible_to<SinkFactory<Row>>;
};

}  // namespace glaive::engine
