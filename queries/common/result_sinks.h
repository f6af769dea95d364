// ResultSinks: where a query's results go: the CSV file of --output, the memory of --verify, both, a benchmark's
// totals, or nowhere. One type for all, so that a query's pipeline is compiled once.
//
// Made once a process. The rows for --verify have a vector for each leader, which alone writes it.
//
//   std::unique_ptr<Query> query = From(bids)....To(sinks);
//   std::span<const ResultRow> rows = sinks.retained(leader);
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/sink/all_of.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "queries/common/result_row.h"

namespace glaive::queries {

template <typename Row>
ResultRow ToResultRow(const Row& row) {
  return {.window_start_ms = row.window_start_ms,
          .window_end_ms = row.window_end_ms,
          .key = ValueBits(row.key),
          .value = ValueBits(row.value)};
}

/// Of a window by the order of records: its number and how many records it has stand for its times.
template <typename K, typename T>
ResultRow ToResultRow(const engine::NumberedResult<K, T>& row) {
  return {.window_start_ms = static_cast<std::int64_t>(row.window),
          .window_end_ms = static_cast<std::int64_t>(row.records),
          .key = ValueBits(row.key),
          .value = ValueBits(row.value)};
}

/// The rows of a process's leaders: each has a vector of its own, and all together a limit.
struct RetainedRows {
  RetainedRows(std::uint32_t executor_count, std::uint64_t max_rows)
      : by_executor(executor_count), rows_left(max_rows) {}

  std::vector<std::vector<ResultRow>> by_executor;
  std::atomic<std::uint64_t> rows_left;  // relaxed: it carries no data
};

/// Retains rows as ResultRows.
template <typename Row>
class RetainRows final : public engine::Sink<Row> {
 public:
  RetainRows(std::shared_ptr<RetainedRows> retained, ExecutorId leader)
      : retained_(std::move(retained)), rows_(&retained_->by_executor[Value(leader)]) {}

  absl::Status Write(std::span<const Row> rows) override {
    if (retained_->rows_left.fetch_sub(rows.size(), std::memory_order_relaxed) < rows.size()) {
      retained_->rows_left.store(0, std::memory_order_relaxed);
      return absl::ResourceExhaustedError(
          "more results than planned for would have to be held in memory: verify a shorter stream");
    }
    for (const Row& row : rows) {
      rows_->push_back(ToResultRow(row));
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<RetainedRows> retained_;
  std::vector<ResultRow>* rows_;
};

/// Adds rows up.
template <typename Row>
class AddRows final : public engine::Sink<Row> {
 public:
  explicit AddRows(Totals& totals) : totals_(&totals) {}

  absl::Status Write(std::span<const Row> rows) override {
    Totals totals;  // in registers
    for (const Row& each : rows) {
      const ResultRow row = ToResultRow(each);
      if (row.window_start_ms != start_ms_ || row.window_end_ms != end_ms_) {
        start_ms_ = row.window_start_ms;
        end_ms_ = row.window_end_ms;
        window_hash_ = Totals::HashOfWindow(start_ms_, end_ms_);
      }
      totals.AddOf(window_hash_, row.key, row.value);
    }
    totals_->Merge(totals);
    return absl::OkStatus();
  }

 private:
  Totals* totals_;
  // Of the last row: most have the same.
  std::int64_t start_ms_ = 0;
  std::int64_t end_ms_ = 0;
  std::uint64_t window_hash_ = Totals::HashOfWindow(0, 0);
};

struct ResultSinksOptions {
  std::string output;          // CSV file, or empty
  bool retain = false;         // for --verify
  std::uint64_t max_rows = 0;  // that the process retains; more end the run
  Totals* totals = nullptr;    // to be added up by the one leader of a benchmark, or null
};

class ResultSinks {
 public:
  /// For `executor_count` leaders.
  ResultSinks(ResultSinksOptions options, std::uint32_t executor_count)
      : options_(std::move(options)), retained_(std::make_shared<RetainedRows>(executor_count, options_.max_rows)) {}

  /// What `.To()` asks for.
  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    std::vector<engine::SinkFactory<Row>> sinks;
    if (!options_.output.empty()) {
      sinks.push_back(engine::Csv{options_.output}.template Factory<Row>());
    }
    if (options_.retain) {
      sinks.push_back([retained = retained_](
                          const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
        return std::make_unique<RetainRows<Row>>(retained, context.executor);
      });
    }
    if (options_.totals != nullptr) {
      sinks.push_back([totals = options_.totals](const engine::SinkContext& /*context*/)
                          -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
        return std::make_unique<AddRows<Row>>(*totals);
      });
    }
    if (sinks.empty()) {
      return engine::Discard{}.Factory<Row>();
    }
    return engine::AllOf<Row>(std::move(sinks)).template Factory<Row>();
  }

  /// What the leaders emitted, by leader; those of other nodes are empty.
  const std::vector<std::vector<ResultRow>>& retained() const { return retained_->by_executor; }

 private:
  ResultSinksOptions options_;
  std::shared_ptr<RetainedRows> retained_;  // shared with the sinks
};

}  // namespace glaive::queries
