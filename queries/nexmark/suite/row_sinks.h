// RowSinks: where the rows of a query go: the CSV file of --output, the memory of --verify as lines of CSV, both, or
// nowhere. Rows may have any type that Csv writes, texts included.
//
// Made once a process. The lines have a vector for each executor, which alone writes it.
//
//   std::unique_ptr<engine::Query> query = engine::From(events)....To(sinks);
//   std::vector<std::string> lines = sinks.TakeLines(executor);
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
#include "engine/sink/discard.h"
#include "engine/sink/sink.h"

namespace glaive::queries::nexmark::suite {

/// Retained lines: by executor, and how many bytes may still be taken.
struct RetainedLines {
  RetainedLines(std::uint32_t executor_count, std::uint64_t most_bytes)
      : by_executor(executor_count), bytes_left(most_bytes) {}

  /// What a line takes besides its characters.
  static constexpr std::uint64_t kBytesOfLine = 64;

  std::vector<std::vector<std::string>> by_executor;
  std::atomic<std::uint64_t> bytes_left;  // relaxed: it carries no data
};

template <typename Row>
class RetainLines final : public engine::Sink<Row> {
 public:
  RetainLines(std::shared_ptr<RetainedLines> retained, ExecutorId executor)
      : retained_(std::move(retained)), lines_(&retained_->by_executor[Value(executor)]) {}

  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      std::string line;
      engine::CsvRow<Row>::Append(line, row);
      const std::uint64_t bytes = line.size() + RetainedLines::kBytesOfLine;
      if (retained_->bytes_left.fetch_sub(bytes, std::memory_order_relaxed) < bytes) {
        retained_->bytes_left.store(0, std::memory_order_relaxed);
        return absl::ResourceExhaustedError(
            "more results than planned for would have to be held in memory: verify a shorter stream");
      }
      lines_->push_back(std::move(line));
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<RetainedLines> retained_;
  std::vector<std::string>* lines_;
};

struct RowSinksOptions {
  std::string output;            // CSV file, or empty
  bool retain = false;           // for --verify
  std::uint64_t most_bytes = 0;  // that the process retains; more end the run
};

class RowSinks {
 public:
  RowSinks(RowSinksOptions options, std::uint32_t executor_count)
      : options_(std::move(options)), retained_(std::make_shared<RetainedLines>(executor_count, options_.most_bytes)) {}

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
        return std::make_unique<RetainLines<Row>>(retained, context.executor);
      });
    }
    if (sinks.empty()) {
      return engine::Discard{}.Factory<Row>();
    }
    return engine::AllOf<Row>(std::move(sinks)).template Factory<Row>();
  }

  /// Takes what an executor emitted, after the run; nothing of one of another node.
  std::vector<std::string> TakeLines(std::uint32_t executor) const {
    return std::exchange(retained_->by_executor[executor], {});
  }

 private:
  RowSinksOptions options_;
  std::shared_ptr<RetainedLines> retained_;  // shared with the sinks
};

}  // namespace glaive::queries::nexmark::suite
