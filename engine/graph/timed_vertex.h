// TimedVertex: the vertex of an operator that takes in one stream, and makes records with their event times beside them
// (timed_producer.h). It has the answers that most of these have in common.
//
//   class FlatMapVertex final : public TimedVertex<Origin, Out> {
//    public:
//     explicit FlatMapVertex(Origin origin) : TimedVertex<Origin, Out>(std::move(origin)) {}
//     absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
//       return this->Consuming(graph, std::make_unique<...>(...));
//     }
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/vertex.h"

namespace glaive::engine {

/// `Origin` is one of api/origin.h.
template <typename Origin, typename Out>
class TimedVertex : public ProducerVertex<TimedRecord<Out>> {
 public:
  std::vector<const Vertex*> upstream() const override { return {origin_.vertex.get()}; }
  TableBytes tables() const override { return origin_.tables; }
  std::uint64_t source_memory_bytes() const override { return TimedProducer<Out>::kMemoryBytes; }  // its buffer
  std::int64_t delay_ms() const override { return origin_.vertex->delay_ms(); }
  bool goes_by_clock() const override { return origin_.vertex->goes_by_clock(); }
  bool is_behind_exchange() const override { return origin_.vertex->is_behind_exchange(); }

 protected:
  explicit TimedVertex(Origin origin) : origin_(std::move(origin)) {}

  const Origin& origin() const { return origin_; }

  /// The opened operator, which takes in the stream from now on.
  template <typename Opened>
  std::unique_ptr<Operator> Consuming(OpenGraph& graph, std::unique_ptr<Opened> opened) const {
    graph.OutputOf(*origin_.vertex).Add(*opened);
    return opened;
  }

 private:
  Origin origin_;
};

}  // namespace glaive::engine
