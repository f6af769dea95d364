// QueryOfExecutors: one query object for each executor of a node, all alike but for where their results go, so that
// each adds up rows of its own.
//
// Owns them. Used as any engine::Query.
//
//   QueryOfExecutors query(std::move(queries));   // by the executor's number within its node
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/executor/query.h"

namespace glaive::bench {

class QueryOfExecutors final : public engine::Query {
 public:
  /// At least one query.
  explicit QueryOfExecutors(std::vector<std::unique_ptr<engine::Query>> queries) : queries_(std::move(queries)) {}

  std::vector<engine::InputShape> inputs(const engine::Roles& roles) const override {
    return queries_.front()->inputs(roles);
  }
  std::uint64_t source_memory_bytes() const override { return queries_.front()->source_memory_bytes(); }
  std::uint64_t table_bytes() const override { return queries_.front()->table_bytes(); }
  std::int64_t window_ms() const override { return queries_.front()->window_ms(); }
  std::string Explain(const engine::Roles& roles) const override { return queries_.front()->Explain(roles); }
  absl::StatusOr<std::unique_ptr<engine::QueryTask>> Open(engine::TaskContext& context) const override {
    return queries_[Value(context.self) % queries_.size()]->Open(context);
  }

 private:
  std::vector<std::unique_ptr<engine::Query>> queries_;
};

}  // namespace glaive::bench
