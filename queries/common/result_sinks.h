// ResultSinks: where a query's results go: the CSV file of --output, the memory of --verify, both, a benchmark's
// totals, or nowhere. One type for all, so that a query's pipeline is compiled once.
//
// Made once a process; the rows kept for --verify have a vector for each leader, which alone writes it.
//
//   std::unique_ptr<Query> query = From(bids)....To(sinks);
//   std::span<const ResultRow> rows = sinks.kept(leader);
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

/// The rows of a process's leaders: each has a vector of its own, and all together a limit.
struct KeptRows {
  KeptRows(std::uint32_t executor_count, std::uint64_t max_rows) : by_executor(executor_count), rows_left(max_rows) {}

  std::vector<std::vector<ResultRow>> by_executor;
  std::atomic<std::uint64_t> rows_left;  // relaxed: it carries no data
};

/// Keeps rows as ResultRows.
template <typename Row>
class KeepRows final : public engine::Sink<Row> {
 public:
  KeepRows(std::shared_ptr<KeptRows> kept, ExecutorId leader)
      : kept_(std::move(kept)), rows_(&kept_->by_executor[Value(leader)]) {}

  absl::Status Write(std::span<const Row> rows) override {
    if (kept_->rows_left.fetch_sub(rows.size(), std::memory_order_relaxed) < rows.size()) {
      kept_->rows_left.store(0, std::memory_order_relaxed);
      return absl::ResourceExhaustedError(
          "more results than planned for would have to be kept in memory: verify a shorter stream");
    }
    for (const Row& row : rows) {
      rows_->push_back(ToResultRow(row));
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<KeptRows> kept_;
  std::vector<ResultRow>* rows_;
};

/// Adds rows up.
template <typename Row>
class AddRows final : public engine::Sink<Row> {
 public:
  explicit AddRows(Totals& totals) : totals_(&totals) {}

  absl::Status Write(std::span<const Row> rows) override {
    Totals totals;  // in registers
    for (const Row& row : rows) {
      if (row.window_start_ms != start_ms_ || row.window_end_ms != end_ms_) {
        start_ms_ = row.window_start_ms;
        end_ms_ = row.window_end_ms;
        window_hash_ = Totals::HashOfWindow(start_ms_, end_ms_);
      }
      totals.AddOf(window_hash_, ValueBits(row.key), ValueBits(row.value));
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
  bool keep = false;           // for --verify
  std::uint64_t max_rows = 0;  // to be kept by the process; more end the run
  Totals* totals = nullptr;    // to be added up by the one leader of a benchmark, or null
};

class ResultSinks {
 public:
  /// For `executor_count` leaders.
  ResultSinks(ResultSinksOptions options, std::uint32_t executor_count)
      : options_(std::move(options)), kept_(std::make_shared<KeptRows>(executor_count, options_.max_rows)) {}

  /// What `.To()` asks for.
  template <typename Row>
  engine::SinkFactory<Row> Factory() const {
    std::vector<engine::SinkFactory<Row>> sinks;
    if (!options_.output.empty()) {
      sinks.push_back(engine::Csv{options_.output}.template Factory<Row>());
    }
    if (options_.keep) {
      sinks.push_back(
          [kept = kept_](const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> {
            return std::make_unique<KeepRows<Row>>(kept, context.executor);
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
  const std::vector<std::vector<ResultRow>>& kept() const { return kept_->by_executor; }

 private:
  ResultSinksOptions options_;
  std::shared_ptr<KeptRows> kept_;  // shared with the sinks
};

}  // namespace glaive::queries
