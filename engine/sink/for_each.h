// ForEach: a sink that calls a function with each row.
//
// No row moves: each executor calls it with its own rows, in their order, on its own thread. So the executors of a
// process call it at the same time, and it must neither block nor throw. It has been called with rows of a run that
// fails later.
//
//   std::atomic<std::uint64_t> rows = 0;
//   query.To(ForEach([&rows](const Row&) { ++rows; }));
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "engine/sink/sink.h"

namespace glaive::engine {

template <typename Row, typename Function>
class ForEachSink final : public Sink<Row> {
 public:
  explicit ForEachSink(std::shared_ptr<const Function> function) : function_(std::move(function)) {}

  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      std::invoke(*function_, row);
    }
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<const Function> function_;  // of all executors
};

/// See the head of this file.
template <typename Function>
class ForEach {
 public:
  explicit ForEach(Function function) : function_(std::make_shared<const Function>(std::move(function))) {}

  template <typename Row>
    requires std::invocable<const Function&, const Row&>
  SinkFactory<Row> Factory() const {
    return [function = function_](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<ForEachSink<Row, Function>>(function);
    };
  }

 private:
  std::shared_ptr<const Function> function_;
};

}  // namespace glaive::engine
