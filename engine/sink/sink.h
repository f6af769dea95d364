// Sink: where an executor's rows go.
//
// Every executor opens its own sink. The executor writes the rows of the keys that it leads, window by window, or, of a
// stream without a window, those of the records that it reads. A sink belongs to its executor's thread and must not
// block it: what takes time goes on elsewhere, and Ready says when to come back.
//
//   1. Complete says that rows are final. From then on a sink may publish them, although the run may fail later. The
//      sink asks for the call of Publish by WantsToPublish. Published rows stay.
//   2. TryFinish is called after the executor's last row, until it is true.
//   3. Commit is called once, after every executor of the run has finished without error. What a sink holds back until
//      then (a file's final name, say) never stands for half a result.
//
//   query.To(Collect(rows));
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/result_part.h"
#include "rdma/base/ids.h"
#include "state/record/record.h"

namespace glaive::engine {

/// The key of a query without KeyBy: all records have the same.
struct AllRecords {
  static constexpr bool kOnlyKey = true;
  std::uint8_t always_zero = 0;

  friend auto operator<=>(const AllRecords&, const AllRecords&) = default;
};

/// A fired window's result for one key: the aggregate of all its records with event time in [start, end).
template <typename K, typename T>
struct WindowResult {
  using Members = std::tuple<std::int64_t, std::int64_t, K, T>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
    visit("value", self.value);
  }

  std::int64_t window_start_ms = 0;
  std::int64_t window_end_ms = 0;
  K key{};
  T value{};

  friend bool operator==(const WindowResult&, const WindowResult&) = default;
};

/// The result of a key's window by the order of records (engine/window/ordered_windows.h).
template <typename K, typename T>
struct NumberedResult {
  using Members = std::tuple<std::uint64_t, std::uint64_t, K, T>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
    visit("value", self.value);
  }

  std::uint64_t window = 0;   // of the key's windows, from 0
  std::uint64_t records = 0;  // that it has
  K key{};
  T value{};

  friend bool operator==(const NumberedResult&, const NumberedResult&) = default;
};

class FileClaims;

template <typename Row>
class Sink {
 public:
  virtual ~Sink() = default;

  /// Whether the next rows can be taken, or TryFinish asked again, without much waiting or memory. Cheap: a waiting
  /// executor asks every round.
  virtual bool Ready() { return true; }
  /// Takes rows, at most a few thousand; they may be overwritten afterwards.
  virtual absl::Status Write(std::span<const Row> rows) = 0;
  /// All rows so far are final. With `until_ms` no row of a window that ends until then will follow, nor one of an
  /// earlier event time but for late records. Cheap.
  virtual void Complete(std::optional<std::int64_t> /*until_ms*/) {}
  /// Whether Publish would do something. Cheap: an executor asks every round.
  virtual bool WantsToPublish(std::int64_t /*now_ns*/) const { return false; }
  /// Begins to make visible what is complete. Does not wait.
  virtual absl::Status Publish(std::int64_t /*now_ns*/) { return absl::OkStatus(); }
  /// Makes sure that what was written can be committed: true once that is so, false to be asked again when Ready.
  virtual absl::StatusOr<bool> TryFinish() { return true; }
  /// Adds the files that Commit will make final, once TryFinish was true. If a node is lost before all have committed,
  /// the others remove those that were not published before.
  virtual void AddParts(std::vector<ResultPart>& /*parts*/) const {}
  /// Makes it final; on any thread, once the executors have stopped.
  virtual absl::Status Commit() { return absl::OkStatus(); }
};

struct SinkContext {
  ExecutorId executor{};
  std::uint32_t executor_count = 1;
  FileClaims* claims = nullptr;  // outlives the sink; null: no part was claimed
};

/// Opens an executor's sink; on its executor's own thread, before the run's clock starts.
template <typename Row>
using SinkFactory = std::function<absl::StatusOr<std::unique_ptr<Sink<Row>>>(const SinkContext&)>;

/// What `.To()` takes: something that makes the factory once the type of the rows is known.
template <typename S, typename Row>
concept SinkSpecFor = requires(const S& spec) {
  { spec.template Factory<Row>() } -> std::convertible_to<SinkFactory<Row>>;
};

}  // namespace glaive::engine
