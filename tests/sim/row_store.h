// RowStore: the rows of a simulated node's sinks, as text. Sinks write rows, and Commit publishes them, in memory or in
// files (sim_files.h).
//
// Each node has one. A sink publishes all its rows at Commit, or those that are complete while the run goes on. A
// RowStore outlives the node's process, as a disk does. A RowSink is a query's sink in it. A RowSink with files wraps
// the engine's sink, and waits for the engine's thread, so that each run of a seed is the same.
//
//   query.To(StoreRows{&run.rows});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
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
#include "absl/strings/str_cat.h"

#include "engine/files/file_claims.h"
#include "engine/files/result_part.h"
#include "engine/sink/sink.h"
#include "tests/engine/full_disk.h"
#include "tests/sim/line_files.h"
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
  /// Virtual time.
  virtual std::int64_t NowNs() const = 0;
  /// Until when a sink of `executor` is busy to which rows are written now.
  virtual std::int64_t BusyUntilNs(ExecutorId executor) const = 0;
  /// A sink is asked for while it is busy.
  virtual void OnWaitForSink() = 0;
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
  /// `rows_wait`: rows come when their windows are complete, so that none comes for a time that was said to be
  /// complete.
  RowStore(SinkListener& listener, PathOfOutput path_of_output, bool rows_wait)
      : listener_(&listener), path_of_output_(std::move(path_of_output)), rows_wait_(rows_wait) {}

  SinkListener& listener() { return *listener_; }
  bool has_files() const { return path_of_output_ != nullptr; }
  bool rows_wait() const { return rows_wait_; }
  /// The path of the executor's next output. Executors open those of a query in the same order.
  std::string NextPath(ExecutorId executor) {
    return path_of_output_(outputs_[executor]++, listener_->RefusesFile(executor));
  }
  /// A new sink's number.
  std::size_t Open() {
    published_.emplace_back();
    return published_.size() - 1;
  }
  /// Makes more of a sink's rows final, and takes that back for all of them.
  void Publish(std::size_t sink, std::span<const std::string> rows, std::span<const std::string> late) {
    StoredRows& all = published_[sink].has_value() ? *published_[sink] : published_[sink].emplace();
    all.rows.insert(all.rows.end(), rows.begin(), rows.end());
    all.late.insert(all.late.end(), late.begin(), late.end());
  }
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
  bool rows_wait_;
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

/// `Show` says what rows are, and adds what is stored of a row. A sink is busy for a while behind each call of Write.
template <typename Row, typename Show>
class RowSink final : public engine::Sink<Row> {
 public:
  /// `file` is null for rows in memory. `publishes`: rows are stored while the run goes on.
  RowSink(RowStore& store, Show show, ExecutorId executor, std::unique_ptr<LineFile> file, bool publishes)
      : store_(&store),
        show_(std::move(show)),
        sink_(store.Open()),
        executor_(executor),
        file_(std::move(file)),
        publishes_(publishes) {}

  bool Ready() override {
    const bool is_busy = store_->listener().NowNs() < busy_until_ns_;
    if (is_busy) store_->listener().OnWaitForSink();
    return !is_busy;
  }
  absl::Status Write(std::span<const Row> rows) override {
    busy_until_ns_ = store_->listener().BusyUntilNs(executor_);
    for (const Row& row : rows) {
      if (store_->rows_wait() && complete_until_ms_.has_value() && TimeOf(row) <= *complete_until_ms_) {
        return absl::InternalError(absl::StrCat("a row of a window that ends at ", TimeOf(row),
                                                " ms, although windows were complete until ", *complete_until_ms_));
      }
      if (absl::Status status = store_->listener().OnRow(executor_, TimeOf(row), Show::kKind); !status.ok()) {
        return status;
      }
    }
    StoredRows shown;
    for (const Row& row : rows) show_(row, shown);
    count_.rows += shown.rows.size();
    count_.late += shown.late.size();
    if (file_ != nullptr) return WriteToFile(std::move(shown));
    std::ranges::move(shown.rows, std::back_inserter(written_.rows));
    std::ranges::move(shown.late, std::back_inserter(written_.late));
    return absl::OkStatus();
  }
  void Complete(std::optional<std::int64_t> until_ms) override {
    complete_until_ms_ = until_ms;
    if (file_ != nullptr) file_->Complete(until_ms);
    complete_ = count_;
  }
  bool WantsToPublish(std::int64_t /*now_ns*/) const override { return publishes_ && complete_ != stored_; }
  absl::Status Publish(std::int64_t /*now_ns*/) override {
    if (file_ == nullptr) {
      StoreUntil(complete_);
      return absl::OkStatus();
    }
    stored_ = complete_;
    return PublishFile();
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
        StoreUntil(count_);
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
  struct ShownCount {
    std::size_t rows = 0;
    std::size_t late = 0;

    bool operator==(const ShownCount&) const = default;
  };

  static std::int64_t TimeOf(const Row& row) {
    if constexpr (Show::kKind == RowKind::kResult) {
      return row.window_end_ms;
    } else {
      return row.event_time_ms;
    }
  }

  void StoreUntil(const ShownCount& end) {
    const auto some = [](const std::vector<std::string>& all, std::size_t from, std::size_t to) {
      return std::span(all).subspan(from, to - from);
    };
    store_->Publish(sink_, some(written_.rows, stored_.rows, end.rows), some(written_.late, stored_.late, end.late));
    stored_ = end;
  }
  absl::Status WriteToFile(StoredRows shown) {
    std::vector<RowLine> lines;
    for (std::string& text : shown.rows) lines.push_back({kRowLine, std::move(text)});
    for (std::string& text : shown.late) lines.push_back({kLateLine, std::move(text)});
    return file_->Write(lines);
  }
  /// Waits for the file's thread, also of an earlier buffer: else what follows would depend on its speed.
  absl::Status PublishFile() {
    const auto wait = [this] {
      while (!file_->Idle()) std::this_thread::yield();
    };
    wait();
    publish_ns_ += 1'000'000'000;
    absl::Status status = file_->WantsToPublish(publish_ns_) ? file_->Publish(publish_ns_) : absl::OkStatus();
    wait();
    return status;
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
  Show show_;
  std::size_t sink_;
  ExecutorId executor_;
  std::optional<std::int64_t> complete_until_ms_;  // none for late records
  // What is shown of all rows, of those that are complete, and of those that are published.
  ShownCount count_;
  ShownCount complete_;
  ShownCount stored_;
  std::int64_t publish_ns_ = 0;  // of a clock of the file's own
  std::int64_t busy_until_ns_ = 0;
  std::uint32_t finishing_ = 0;
  StoredRows written_;
  std::unique_ptr<LineFile> file_;
  bool publishes_;
};

template <typename Show>
struct StoreAs {
  RowStore* store;
  Show show{};

  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    return [store = store,
            show = show](const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
      const bool publishes = context.claims->publication() == engine::Publication::kWhileRunning;
      if (!store->has_files())
        return std::make_unique<RowSink<Row, Show>>(*store, show, context.executor, nullptr, publishes);
      auto file = OpenLineFile(store->NextPath(context.executor), context);
      if (!file.ok()) return file.status();
      return std::make_unique<RowSink<Row, Show>>(*store, show, context.executor, *std::move(file), publishes);
    };
  }
};
using StoreRows = StoreAs<ResultRows>;
using StoreLate = StoreAs<LateRows>;

}  // namespace glaive::sim
