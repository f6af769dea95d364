// GraphQuery: a query as the graph of its vertices, and GraphTask: an executor's part of it, as fibers:
//
//   source    reads a source's batches, runs fused chains, folds the resulting records into stores and ends epochs, or
//             writes them to a sink: source_reader.h, stage/stage_input.h, sink_writer.h
//   ingest    does the same for the records that a feeder sends: ingest/channel_reader.h
//   feed      reads a source and streams its records to the executor that processes them: ingest/source_feeder.h
//   ship      sends sealed segments to the leaders of their keys: executor/shipper.h
//   receive   takes in the messages of other executors, each for its input: message_receiver.h
//   exchange  hands on the records that other executors have sent: exchange/exchange.h
//   loop      hands on the records of a loop in iterations: loop_head.h
//   trigger   fires a stage's windows that every executor has passed, and hands the results to the next stage or the
//             sink: stage/window_trigger.h
//
// A query has one or more sinks. Their streams may share sources and stages, which run once for all of them. A query
// without stages and exchanges sends nothing: its executors read and write on their own.
//
// Owned by the executor, used by its thread alone. The waits of the fibers:
//
//   1. receive waits for nothing but the next message (invariant I5): it uses primary memory and inboxes only.
//   2. source, ingest, feed, exchange and trigger wait for segments, which come back once others have received (I6).
//      Those with a sink wait for it, too. Those whose records move on wait for inbox credit.
//   3. source and ingest wait for slower flows (I7). trigger waits for the clock. loop waits for the decision at
//      the end of an iteration, which follows once all executors have ended it.
//   4. trigger fires a window once min_ms() has reached its end. No flow changes such a window any more (I4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "engine/graph/vertex.h"

namespace glaive::engine {

class GraphQuery final : public Query {
 public:
  /// The graph of everything upstream of the sinks, of which there is at least one.
  explicit GraphQuery(std::vector<std::shared_ptr<const Vertex>> sinks);

  /// One query that does the work of all.
  static std::unique_ptr<GraphQuery> Unite(std::span<const GraphQuery* const> queries);

  std::vector<InputShape> inputs(const Roles& roles) const override;
  std::vector<ComparedInput> compared_inputs() const override;
  std::uint64_t source_memory_bytes() const override;
  std::uint64_t table_bytes() const override;
  std::int64_t window_ms() const override;
  std::string Explain(const Roles& roles) const override;
  absl::StatusOr<std::unique_ptr<QueryTask>> Open(TaskContext& context) const override;

 private:
  /// Adds to vertices_ all vertices upstream of `vertex`, but not itself.
  void AddVerticesUpstream(const Vertex& vertex);
  bool Has(const Vertex& vertex) const;
  /// InvalidArgument for graphs that are too deep to be run: by a call, or by a question, from operator to operator.
  absl::Status CheckReach() const;
  /// InvalidArgument for a body of a loop that takes in other streams, or has operators whose results would come in
  /// another iteration than their records.
  absl::Status CheckLoops() const;
  /// The vertices from which records reach a sink without a stage between.
  std::set<const Vertex*> BeforeSinks() const;
  /// For each of vertices_, the number of its part of the graph: vertices of two parts are connected by no edges.
  std::vector<std::size_t> Parts() const;

  std::vector<std::shared_ptr<const Vertex>> sinks_;  // which own those upstream
  std::vector<const Vertex*> vertices_;               // each behind those upstream of it
};

}  // namespace glaive::engine
