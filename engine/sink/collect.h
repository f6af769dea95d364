// Collect: a sink that retains all rows in memory, one vector a leader, for tests and for --verify.
//
// No row moves, but CollectAll copies each row to all executors, by an exchange in front of the sinks.
//
// The vectors are the caller's, sized to the executor count and alive until the run has ended. Each leader writes only
// its own, so no lock is needed; read them after the run. A limit prevents an endless stream from filling the memory.
//
//   std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executor_count);
//   query.To(Collect(rows));
//   query.To(CollectAll(rows));   // each vector has the rows of all
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/sink/sink.h"
#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

template <typename Row>
class CollectSink final : public Sink<Row> {
 public:
  /// `texts` is null for rows without texts.
  CollectSink(std::vector<Row>& rows, state::TextArena* texts, std::uint64_t max_rows)
      : rows_(&rows), texts_(texts), max_rows_(max_rows) {}

  absl::Status Write(std::span<const Row> rows) override {
    if (rows.size() > max_rows_ - rows_->size()) {
      return absl::ResourceExhaustedError(absl::StrCat("more than ", max_rows_,
                                                       " results of one executor would have to be "
                                                       "stored in memory: collect (or verify) a shorter stream"));
    }
    if constexpr (kHasText<Row>) {
      for (const Row& row : rows) {
        rows_->push_back(texts_->Own(row));
      }
    } else {
      rows_->insert(rows_->end(), rows.begin(), rows.end());
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Row>* rows_;
  state::TextArena* texts_;
  std::uint64_t max_rows_;
};

/// The memory of the texts of collected rows, an arena a leader.
using CollectedTexts = std::vector<state::TextArena>;

template <typename Row>
class Collect {
 public:
  /// A leader that would have to retain more than `max_rows` ends the run with ResourceExhausted.
  explicit Collect(std::vector<std::vector<Row>>& rows_by_executor,
                   std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max())
      : rows_(&rows_by_executor), max_rows_(max_rows) {
    ExpectDescribedTexts<Row>();
    static_assert(!kHasText<Row>, "glaive: rows with texts are collected with them: Collect(rows, texts)");
  }
  /// For rows with texts: `texts` is sized like the rows, and outlives them.
  Collect(std::vector<std::vector<Row>>& rows_by_executor, CollectedTexts& texts,
          std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max())
      : rows_(&rows_by_executor), texts_(&texts), max_rows_(max_rows) {}

  template <typename R>
    requires std::same_as<R, Row>
  SinkFactory<R> Factory() const {
    return [rows = rows_, texts = texts_,
            max_rows = max_rows_](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      const std::uint32_t number = Value(context.executor);
      GLAIVE_CHECK(number < rows->size() && (texts == nullptr || number < texts->size()), "executor ", number,
                   " has no place among ", rows->size());
      return std::make_unique<CollectSink<Row>>((*rows)[number], texts == nullptr ? nullptr : &(*texts)[number],
                                                max_rows);
    };
  }

 private:
  std::vector<std::vector<Row>>* rows_;
  CollectedTexts* texts_ = nullptr;
  std::uint64_t max_rows_;
};

/// Likewise, but each executor retains the rows of all executors. It is no sink of its own: `.To()` has every row
/// copied to each executor, and retained there.
template <typename Row>
struct CollectAll {
  explicit CollectAll(std::vector<std::vector<Row>>& rows_by_executor,
                      std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max())
      : each(rows_by_executor, max_rows) {}
  CollectAll(std::vector<std::vector<Row>>& rows_by_executor, CollectedTexts& texts,
             std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max())
      : each(rows_by_executor, texts, max_rows) {}

  Collect<Row> each;
};
template <typename S>
inline constexpr bool kIsCollectAll = false;
template <typename Row>
inline constexpr bool kIsCollectAll<CollectAll<Row>> = true;

}  // namespace glaive::engine
