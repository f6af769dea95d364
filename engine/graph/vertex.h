// Vertex: a query is a graph of vertices; an executor runs an operator for each (operator.h).
//
// Vertices are immutable and shared by the executors of a process. A vertex is a source, flat map, event-time step,
// union, exchange, step with states of keys, windows by the order of records, interval join, zip, reorder, part of a
// loop, stage (aggregation or join) or sink, and refers to the vertices before it. Every node of a run builds the same
// graph from the same flags, so that the inputs of its stages and exchanges, in the graph's order, have the same
// numbers everywhere.
//
//   absl::StatusOr<std::unique_ptr<Operator>> opened = vertex.Open(graph);
//   (*opened)->Spawn(scheduler);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "engine/graph/operator.h"
#include "engine/graph/vertex_plan.h"
#include "engine/source/compared_input.h"

namespace glaive::engine {

class OpenGraph;

/// Bytes of static tables by their address: one that several streams join is there once for all executors of a node.
using TableBytes = std::map<const void*, std::uint64_t>;

class Vertex {
 public:
  virtual ~Vertex() = default;

  /// The vertices whose records it takes in.
  virtual std::vector<const Vertex*> upstream() const = 0;
  /// The head of the loop in whose body its records are, so that their event times are the numbers of iterations
  /// (loop.h). Null outside of loops.
  virtual const Vertex* loop() const {
    const std::vector<const Vertex*> before = upstream();
    return before.empty() ? nullptr : before.front()->loop();
  }
  /// The head of the loop whose end it is, if it is one.
  virtual const Vertex* ends_loop() const { return nullptr; }
  /// Why it may not be in the body of a loop: a sentence that says what to write instead. Empty if it may.
  virtual std::string_view why_not_in_loops() const { return ""; }
  /// Whether its operator has a fiber of its own on any number of executors, as those of sources and stages have.
  /// Exchanges have one only on several.
  virtual bool has_fiber() const { return false; }
  /// Whether it is a stage: windows of event time, or an unwindowed join.
  virtual bool is_stage() const { return false; }
  /// Its inputs that executors of these roles send each other messages for.
  virtual std::vector<InputShape> inputs(const Roles& /*roles*/) const { return {}; }
  /// Bytes of memory that a source or the buffer of an operator takes on an executor.
  virtual std::uint64_t source_memory_bytes() const { return 0; }
  /// The inputs of a source that each node reads for itself.
  virtual std::vector<ComparedInput> compared_inputs() const { return {}; }
  /// The static tables that it joins its records with.
  virtual TableBytes tables() const { return {}; }
  /// A stage's window, ms, but no more than some slides of it. None of other vertices, and of a stage whose windows do
  /// not end.
  virtual std::optional<std::int64_t> window_ms() const { return std::nullopt; }

  /// By how much the watermark of its records stays behind that of the sources they come from, at most; ms.
  virtual std::int64_t delay_ms() const { return 0; }
  /// Whether the event times of its records are those of a clock, which goes on whatever sources read.
  virtual bool goes_by_clock() const { return false; }

  /// Whether results of windows that ended before a watermark may follow it: of the results that a union unites, or an
  /// exchange, some may come of a stream that was idle.
  virtual bool adds_past_results() const { return false; }

  /// Whether its records may come through an exchange, behind the last stage if there is any.
  virtual bool is_behind_exchange() const { return false; }

  /// The text of --explain for this vertex in a run of these roles.
  virtual VertexPlan Explain(const Roles& roles) const = 0;
  /// Bytes of a record that it makes; none of a sink.
  virtual std::optional<std::size_t> record_bytes() const { return std::nullopt; }

  /// Opens it on an executor, on its own thread, after the vertices upstream.
  virtual absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const = 0;
};

/// A vertex whose operators are Producer<R>.
template <typename R>
class ProducerVertex : public Vertex {
 public:
  std::optional<std::size_t> record_bytes() const final { return sizeof(R); }
};

}  // namespace glaive::engine
