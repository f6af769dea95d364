// OpenGraph: a query's graph while an executor opens it, and what its operators share then.
//
// Owned by the executor's task, used by its thread alone.
//
//   const std::uint32_t number = graph.next_input();
//   graph.AddInput(*input);                          // which has that number now
//   graph.ProducerOf(*plan.origin.node).AddConsumer(*input);
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/executor/delta_shipper.h"
#include "engine/executor/task_context.h"
#include "engine/graph/delta_target.h"
#include "engine/graph/node.h"
#include "engine/graph/reading_order.h"

namespace glaive::engine {

class OpenGraph {
 public:
  /// All outlive the graph.
  OpenGraph(TaskContext& context, DeltaShipper& shipper) : context_(&context), shipper_(&shipper) {}

  TaskContext& context() const { return *context_; }
  DeltaShipper& shipper() const { return *shipper_; }
  ReadingOrder& reading_order() { return reading_order_; }

  /// The number of the query's next input.
  std::uint32_t next_input() const { return static_cast<std::uint32_t>(inputs_.size()); }
  /// Adds it. It outlives the run.
  void AddInput(DeltaTarget& input) { inputs_.push_back(&input); }
  /// All inputs, by their numbers.
  const std::vector<DeltaTarget*>& inputs() const { return inputs_; }

  void AddOpened(const Node& node, Operator& opened) { opened_.emplace(&node, &opened); }
  /// The operator of a node that has been opened.
  template <typename R>
  Producer<R>& ProducerOf(const ProducerNode<R>& node) const {
    return static_cast<Producer<R>&>(*opened_.at(&node));
  }

 private:
  TaskContext* context_;
  DeltaShipper* shipper_;
  ReadingOrder reading_order_;
  std::vector<DeltaTarget*> inputs_;
  std::map<const Node*, Operator*> opened_;
};

}  // namespace glaive::engine
