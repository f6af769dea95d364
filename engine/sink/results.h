// Results: the sink of a program's main output, as its flags say: rows go to the CSV file of --output, to the memory of
// --verify, to both, or nowhere. Main (engine/cluster/main.h) makes it.
//
// For one stream of the query. No row moves: each executor writes its own. What rows look like is told in csv.h. A copy
// is the same sink.
//
//   std::unique_ptr<Query> Squares(const Results& results) { return FromRange(1, 101).Map(&Square).To(results); }
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "engine/sink/all_of.h"
#include "engine/sink/csv.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

/// The rows of a process's executors as lines of CSV. Each executor writes its own; they share a limit.
struct RetainedLines {
  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
  /// Of a line, beside its characters: a growing vector is half empty at worst.
  static constexpr std::int64_t kOverheadBytes = 2 * sizeof(std::string);

  explicit RetainedLines(std::int64_t limit_bytes = kMostBytes) : most_bytes(limit_bytes), bytes_left(limit_bytes) {}

  /// Adds a line of an executor; ResourceExhausted beyond the limit.
  absl::Status Add(std::uint32_t executor, const std::string& line);

  std::vector<std::vector<std::string>> by_executor;  // sized before the run
  const std::int64_t most_bytes;
  std::atomic<std::int64_t> bytes_left;  // relaxed: it carries no data
};

template <typename Row>
class RetainLinesSink final : public Sink<Row> {
 public:
  RetainLinesSink(std::shared_ptr<RetainedLines> lines, ExecutorId executor)
      : lines_(std::move(lines)), executor_(executor) {}

  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      line_.clear();
      CsvRow<Row>::Append(line_, row);
      if (absl::Status status = lines_->Add(Value(executor_), line_); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<RetainedLines> lines_;
  ExecutorId executor_;
  std::string line_;
};

class Results {
 public:
  /// `csv_file` may be empty, and `retained` null.
  explicit Results(std::string csv_file, std::shared_ptr<RetainedLines> retained = nullptr)
      : csv_file_(std::move(csv_file)), retained_(std::move(retained)) {}

  template <typename Row>
  SinkFactory<Row> Factory() const {
    std::vector<SinkFactory<Row>> sinks;
    SinkFactory<Row> csv = Csv{csv_file_}.template Factory<Row>();  // says so if rows have no form as CSV
    if (!csv_file_.empty()) {
      sinks.push_back(std::move(csv));
    }
    if constexpr (requires { CsvRow<Row>::Header(); }) {
      if (retained_ != nullptr) {
        sinks.push_back(
            [retained = retained_](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
              return std::make_unique<RetainLinesSink<Row>>(retained, context.executor);
            });
      }
    }
    return engine::AllOf<Row>(std::move(sinks)).template Factory<Row>();
  }

 private:
  std::string csv_file_;
  std::shared_ptr<RetainedLines> retained_;
};

}  // namespace glaive::engine
