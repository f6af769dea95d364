// RowStore: the rows of a simulated node's sinks, as text. Sinks write rows, and Commit publishes them, in memory or in
// files (sim_files.h).
//
// Each node has one. A RowStore outlives the node's process, as a disk does. A RowSink is a query's sink in it. A
// RowSink with files wraps the engine's sink, and waits for the engine's thread, so that each run of a seed is the
// same.
//
//   query.To(StoreRows{&run.rows});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "engine/files/result_part.h"
#include "engine/sink/csv.h"
#include "engine/sink/sink.h"
#include "tests/engine/full_disk.h"
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
  /// Whether a file that a sink opens is to be refused.
  virtual bool RefusesFile(ExecutorId executor) = 0;
  /// Whether the disk has no room for a file that a sink has filled.
  virtual bool RefusesBytes(ExecutorId executor) = 0;
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

/// The path of an output by its number; `is_refused`: one that cannot be created.
using PathOfOutput = std::function<std::string(std::size_t output, bool is_refused)>;

class RowStore {
 public:
  /// `path_of_output` gives the paths of outputs by their numbers; empty: rows stay in memory. All outlive the store.
  RowStore(SinkListener& listener, PathOfOutput path_of_output)
      : listener_(&listener), path_of_output_(std::move(path_of_output)) {}

  SinkListener& listener() { return *listener_; }
  bool has_files() const { return path_of_output_ != nullptr; }
  /// The path of the executor's next output. Executors open those of a query in the same order.
  std::string NextPath(ExecutorId executor) {
    return path_of_output_(outputs_[executor]++, listener_->RefusesFile(executor));
  }
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
  PathOfOutput path_of_output_;
  std::map<ExecutorId, std::size_t> outputs_;         // opened so far
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

/// A row as a line of a file.
struct RowLine {
  std::string_view kind;  ///< kRowLine or kLateLine
  std::string text;
};
inline constexpr std::string_view kRowLine = "row,";
inline constexpr std::string_view kLateLine = "late,";
inline constexpr std::string_view kHeaderLine = "kind,text";

}  // namespace glaive::sim

template <>
struct glaive::engine::CsvRow<glaive::sim::RowLine> {
  static std::string Header() { return std::string(glaive::sim::kHeaderLine); }
  static void Append(std::string& line, const glaive::sim::RowLine& row) {
    line += row.kind;
    line += row.text;
  }
};

namespace glaive::sim {

/// `Show` says what rows are, and adds what is stored of a row.
template <typename Row, typename Show>
class RowSink final : public engine::Sink<Row> {
 public:
  /// `file` is null for rows in memory.
  RowSink(RowStore& store, ExecutorId executor, std::unique_ptr<engine::Sink<RowLine>> file)
      : store_(&store), sink_(store.Open()), executor_(executor), file_(std::move(file)) {}

  bool Ready() override { return ++asked_ % 3 != 0; }
  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      if (absl::Status status = store_->listener().OnRow(executor_, TimeOf(row), Show::kKind); !status.ok()) {
        return status;
      }
    }
    if (file_ != nullptr) return WriteToFile(rows);
    for (const Row& row : rows) Show()(row, written_);
    return absl::OkStatus();
  }
  absl::StatusOr<bool> TryFinish() override {
    if (absl::Status status = store_->listener().OnFinish(executor_); !status.ok()) return status;
    if (file_ != nullptr) {
      if (absl::Status status = FinishFile(); !status.ok()) return status;
    }
    return ++finishing_ > 2;
  }
  absl::Status Commit() override {
    if (finishing_ <= 2) return absl::InternalError("a sink is committed that has not finished");
    const absl::StatusOr<bool> can = store_->listener().OnCommit(executor_);
    if (!can.ok()) return can.status();
    if (*can) {
      absl::Status status;
      if (file_ == nullptr) {
        store_->Publish(sink_, written_);
      } else {
        status = file_->Commit();
      }
      store_->listener().OnPublished(executor_);
      return status;
    }
    return absl::OkStatus();
  }
  void AddParts(std::vector<engine::ResultPart>& parts) const override {
    if (file_ != nullptr) return file_->AddParts(parts);
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

  absl::Status WriteToFile(std::span<const Row> rows) {
    StoredRows shown;
    for (const Row& row : rows) Show()(row, shown);
    std::vector<RowLine> lines;
    for (std::string& text : shown.rows) lines.push_back({kRowLine, std::move(text)});
    for (std::string& text : shown.late) lines.push_back({kLateLine, std::move(text)});
    return file_->Write(lines);
  }
  /// The first time, the file's thread is given all that was written.
  absl::Status FinishFile() {
    std::optional<engine::FullDisk> full_disk;
    if (finishing_ == 0 && store_->listener().RefusesBytes(executor_)) full_disk.emplace();
    absl::StatusOr<bool> is_done = false;
    while (is_done.ok() && !*is_done) {
      is_done = file_->TryFinish();
      while (!file_->Ready()) std::this_thread::yield();
    }
    return is_done.status();
  }

  RowStore* store_;
  std::size_t sink_;
  ExecutorId executor_;
  std::uint32_t asked_ = 0;
  std::uint32_t finishing_ = 0;
  StoredRows written_;
  std::unique_ptr<engine::Sink<RowLine>> file_;
};

template <typename Show>
struct StoreAs {
  RowStore* store;

  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    return [store = store](const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
      if (!store->has_files()) return std::make_unique<RowSink<Row, Show>>(*store, context.executor, nullptr);
      auto file = engine::Csv{store->NextPath(context.executor)}.Factory<RowLine>()(context);
      if (!file.ok()) return file.status();
      return std::make_unique<RowSink<Row, Show>>(*store, context.executor, *std::move(file));
    };
  }
};
using StoreRows = StoreAs<ResultRows>;
using StoreLate = StoreAs<LateRows>;

}  // namespace glaive::sim
