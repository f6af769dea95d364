// OpenGraph: a query's graph while an executor opens it, and the objects that its operators share.
//
// Owned by the executor's task, used by its thread alone.
//
//   const std::uint32_t number = graph.next_input();
//   graph.AddInput(*input);                          // which has that number now
//   graph.OutputOf(*plan.origin.vertex).Add(*input);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/graph/message_target.h"
#include "engine/graph/output.h"
#include "engine/graph/reading_order.h"
#include "engine/graph/vertex.h"

namespace glaive::engine {

class OpenGraph {
 public:
  /// All outlive the graph.
  OpenGraph(TaskContext& context, Shipper& shipper) : context_(&context), shipper_(&shipper) {}

  TaskContext& context() const { return *context_; }
  Shipper& shipper() const { return *shipper_; }
  ReadingOrder& reading_order() { return reading_order_; }

  /// A vertex is opened next, in the part of the graph with this number. `reaches_sink`: some of its records reach a
  /// sink without a stage between.
  void BeginVertex(std::size_t part, bool reaches_sink) {
    part_ = part;
    reaches_sink_ = reaches_sink;
  }
  /// Of the vertex that is being opened. Vertices of different parts share no record.
  std::size_t part() const { return part_; }
  bool reaches_sink() const { return reaches_sink_; }

  /// The number of the query's next input.
  std::uint32_t next_input() const { return static_cast<std::uint32_t>(inputs_.size()); }
  /// Adds it. It outlives the run.
  void AddInput(MessageTarget& input) { inputs_.push_back(&input); }
  /// All inputs, by their numbers.
  const std::vector<MessageTarget*>& inputs() const { return inputs_; }

  void AddOpened(const Vertex& vertex, Operator& opened) { opened_.emplace(&vertex, &opened); }
  /// The output of the operator of a vertex that has been opened.
  template <typename R>
  Output<R>& OutputOf(const ProducerVertex<R>& vertex) const {
    Output<R>& output = static_cast<Producer<R>&>(*opened_.at(&vertex)).output();
    if (vertex.loop() != nullptr) {
      output.FlushBehindWatermarks();
    }
    return output;
  }
  /// The operator of a vertex, which is a T, unless the vertex has not been opened: then null.
  template <typename T>
  T* FindOperator(const Vertex& vertex) const {
    const auto at = opened_.find(&vertex);
    return at == opened_.end() ? nullptr : dynamic_cast<T*>(at->second);
  }

 private:
  TaskContext* context_;
  Shipper* shipper_;
  ReadingOrder reading_order_;
  std::size_t part_ = 0;
  bool reaches_sink_ = false;
  std::vector<MessageTarget*> inputs_;
  std::map<const Vertex*, Operator*> opened_;
};

}  // namespace glaive::engine
