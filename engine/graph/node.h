// Node and Operator: a query is a graph of nodes; what runs on an executor for a node is its operator.
//
// Nodes are immutable and shared by the executors of a process. They are sources, stages (windowed aggregations and
// joins) and the sink; each knows what it takes in. Every node of a run builds the same graph from the same flags, so
// that the inputs of its stages, in the graph's order, have the same numbers everywhere.
//
//   absl::StatusOr<std::unique_ptr<Operator>> opened = node.Open(graph);
//   (*opened)->Spawn(scheduler);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/fiber/scheduler.h"
#include "engine/graph/flow_consumer.h"
#include "engine/sink/result_part.h"

namespace glaive::engine {

class OpenGraph;

/// Bytes of static tables by their address: one that several streams join is there once for all executors of a node.
using TableBytes = std::map<const void*, std::uint64_t>;

/// What a node is on one executor. Used by its executor's thread; Commit by whoever ends the run.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Adds the fibers that do its work.
  virtual absl::Status Spawn(Scheduler& /*scheduler*/) { return absl::OkStatus(); }
  /// Adds what it has counted to the context's metrics; once, at the end.
  virtual void Measure() {}
  /// Adds the files that Commit will make final; see Sink::AddParts.
  virtual void AddParts(std::vector<ResultPart>& /*parts*/) const {}
  /// Makes its output final, once every executor of the run has succeeded.
  virtual absl::Status Commit() { return absl::OkStatus(); }
};

/// An operator that makes records of type R, and hands them to its consumers.
template <typename R>
class Producer : public Operator {
 public:
  /// `consumer` outlives the run.
  void AddConsumer(FlowConsumer<R>& consumer) { consumers_.push_back(&consumer); }

 protected:
  const std::vector<FlowConsumer<R>*>& consumers() const { return consumers_; }

 private:
  std::vector<FlowConsumer<R>*> consumers_;
};

class Node {
 public:
  virtual ~Node() = default;

  /// The nodes whose records it takes in.
  virtual std::vector<const Node*> upstream() const = 0;
  /// For each input of a stage, the bytes of an entry of the deltas that executors exchange.
  virtual std::vector<std::size_t> delta_entry_bytes() const { return {}; }
  /// Bytes of memory that a source holds on an executor.
  virtual std::uint64_t source_memory_bytes() const { return 0; }
  /// The static tables that it joins its records with.
  virtual TableBytes tables() const { return {}; }
  /// A stage's window, ms, but no more than some slides of it; 0 of other nodes.
  virtual std::int64_t window_ms() const { return 0; }

  /// By how much the watermark of its records stays behind that of the sources they come from, at most; ms.
  virtual std::int64_t delay_ms() const { return 0; }

  /// Opens it on an executor, on its own thread, after the nodes upstream.
  virtual absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const = 0;
};

/// A node whose operators are Producer<R>.
template <typename R>
class ProducerNode : public Node {};

}  // namespace glaive::engine
