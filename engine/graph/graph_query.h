// GraphQuery: a query as the graph of its vertices, and GraphTask: an executor's part of it, as fibers:
//
//   source    reads a source's batches, runs fused pipelines, folds the survivors into stores, ends epochs:
//             source_reader.h, stage/stage_input.h
//   ship      sends sealed segments to the leaders of their keys: executor/delta_shipper.h
//   merge     takes in the deltas of other executors, each for its input, then their watermarks: delta_merger.h
//   trigger   fires a stage's windows that every executor has passed, and hands the results to the next stage or the
//             sink: stage/window_trigger.h
//
// Owned by the executor, used by its thread alone. Who may wait for whom:
//
//   1. merge waits for nothing but the next message (invariant I5): it uses primary memory only.
//   2. source and trigger wait for segments, which come back once others have merged; source for slower flows, too (I6,
//      I7); trigger for the clock and the sink.
//   3. trigger fires a window once min_ms() has passed its end; nobody changes such a window any more (I4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "engine/graph/vertex.h"

namespace glaive::engine {

class GraphQuery final : public Query {
 public:
  /// The graph of everything upstream of `sink`.
  explicit GraphQuery(std::shared_ptr<const Vertex> sink);

  std::vector<std::size_t> delta_entry_bytes() const override;
  std::uint64_t source_memory_bytes() const override;
  std::uint64_t table_bytes() const override;
  std::int64_t window_ms() const override;
  absl::StatusOr<std::unique_ptr<QueryTask>> Open(TaskContext& context) const override;

 private:
  void AddUpstreamFirst(const Vertex& vertex);

  std::shared_ptr<const Vertex> sink_;   // which owns those upstream
  std::vector<const Vertex*> vertices_;  // each behind those upstream of it
};

}  // namespace glaive::engine
