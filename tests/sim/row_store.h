// RowStore: what a simulated node's sinks hold: rows as text, written, then published by Commit.
//
// One a node; outlives its process, as a disk does. RowSink is the sink of a query in it.
//
//   query.To(StoreRows{&run.rows});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "engine/sink/result_part.h"
#include "engine/sink/sink.h"
#include "tests/sim/show.h"

namespace glaive::sim {

/// What a sink is given.
enum class RowKind : std::uint8_t { kResult, kLateRecord, kLateResult };

/// Told of what sinks do; may refuse it.
class SinkListener {
 public:
  virtual ~SinkListener() = default;
  /// A row was written by `executor`; `time_ms` is its window's end, or a late record's event time. An error is the
  /// sink's.
  virtual absl::Status OnRow(ExecutorId executor, std::int64_t time_ms, RowKind kind) = 0;
  /// A stage hands a result to the next one.
  virtual void OnHandedOn() = 0;
  virtual absl::Status OnFinish(ExecutorId executor) = 0;
  /// Whether the process can still make something final.
  virtual absl::StatusOr<bool> OnCommit(ExecutorId executor) = 0;
  virtual void OnPublished(ExecutorId executor) = 0;
  /// Whether the executor's process has not been killed.
  virtual bool IsRunning(ExecutorId executor) const = 0;
};

struct StoredRows {
  std::vector<std::string> rows;
  std::vector<std::string> late;
};

class RowStore {
 public:
  explicit RowStore(SinkListener& listener) : listener_(&listener) {}

  SinkListener& listener() { return *listener_; }
  /// A new sink's number.
  std::size_t Open() {
    published_.emplace_back();
    return published_.size() - 1;
  }
  /// Makes a sink's rows final, and takes that back.
  void Publish(std::size_t sink, StoredRows rows) { published_[sink] = std::move(rows); }
  void Retract(std::size_t sink) { published_[sink].reset(); }

  /// Of all sinks.
  StoredRows published() const {
    StoredRows all;
    for (const std::optional<StoredRows>& each : published_) {
      if (!each.has_value()) continue;
      all.rows.insert(all.rows.end(), each->rows.begin(), each->rows.end());
      all.late.insert(all.late.end(), each->late.begin(), each->late.end());
    }
    return all;
  }
  /// Sinks whose rows are final.
  std::size_t parts() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(published_, [](const auto& each) { return each.has_value(); }));
  }

 private:
  SinkListener* listener_;
  std::vector<std::optional<StoredRows>> published_;  // by sink
};

/// Rows as results, and as late records.
struct ResultRows {
  static constexpr RowKind kKind = RowKind::kResult;
  template <typename Row>
  void operator()(const Row& row, StoredRows& stored) const {
    stored.rows.push_back(ShowRow(row));
  }
};
struct LateRows {
  static constexpr RowKind kKind = RowKind::kLateRecord;
  template <typename Row>
  void operator()(const Row& row, StoredRows& stored) const {
    stored.late.push_back(ShowRow(row));
  }
};

/// `Show` says what rows are, and adds what is stored of a row.
template <typename Row, typename Show>
class RowSink final : public engine::Sink<Row> {
 public:
  RowSink(RowStore& store, ExecutorId executor) : store_(&store), sink_(store.Open()), executor_(executor) {}

  bool Ready() override { return ++asked_ % 3 != 0; }
  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      if (absl::Status status = store_->listener().OnRow(executor_, TimeOf(row), Show::kKind); !status.ok()) {
        return status;
      }
      Show()(row, written_);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<bool> TryFinish() override {
    if (absl::Status status = store_->listener().OnFinish(executor_); !status.ok()) return status;
    return ++finishing_ > 2;
  }
  absl::Status Commit() override {
    if (finishing_ <= 2) return absl::InternalError("a sink is committed that has not finished");
    const absl::StatusOr<bool> can = store_->listener().OnCommit(executor_);
    if (!can.ok()) return can.status();
    if (*can) {
      store_->Publish(sink_, written_);
      store_->listener().OnPublished(executor_);
    }
    return absl::OkStatus();
  }
  void AddParts(std::vector<engine::ResultPart>& parts) const override {
    parts.push_back({.output = Show::kKind == RowKind::kResult ? "rows" : "late",
                     .executor = Value(executor_),
                     .rows = written_.rows.size() + written_.late.size(),
                     .inode = sink_});
  }

 private:
  static std::int64_t TimeOf(const Row& row) {
    if constexpr (Show::kKind == RowKind::kResult) {
      return row.window_end_ms;
    } else {
      return row.event_time_ms;
    }
  }

  RowStore* store_;
  std::size_t sink_;
  ExecutorId executor_;
  std::uint32_t asked_ = 0;
  std::uint32_t finishing_ = 0;
  StoredRows written_;
};

template <typename Show>
struct StoreAs {
  RowStore* store;

  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    return [store = store](const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
      return std::make_unique<RowSink<Row, Show>>(*store, context.executor);
    };
  }
};
using StoreRows = StoreAs<ResultRows>;
using StoreLate = StoreAs<LateRows>;

}  // namespace glaive::sim
