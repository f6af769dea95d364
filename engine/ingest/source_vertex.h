// SourceVertex: a source in the query's graph. There is one, however many consumers the source has.
//
// Usually each executor reads its part of the stream and processes it (graph/source_reader.h). Where the run's roles
// say that executors are fed, some read and stream all records to the others (source_feeder.h, channel_reader.h).
//
//   auto vertex = std::make_shared<const SourceVertex<R>>(spec);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/exchange/exchange_layout.h"
#include "engine/executor/roles.h"
#include "engine/executor/task_context.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/source_reader.h"
#include "engine/graph/vertex.h"
#include "engine/ingest/channel_reader.h"
#include "engine/ingest/source_feeder.h"
#include "engine/source/empty_source.h"
#include "engine/source/source.h"
#include "state/record/record.h"

namespace glaive::engine {

template <typename R>
class SourceVertex final : public ProducerVertex<R> {
 public:
  template <typename EventTime>
  explicit SourceVertex(SourceSpec<R, EventTime> spec)
      : open_(std::move(spec.open)),
        memory_bytes_(spec.memory_bytes),
        compared_inputs_(std::move(spec.compared_inputs)),
        each_process_reads_(spec.each_process_reads),
        has_event_times_(!std::is_same_v<EventTime, NoEventTime>) {
    if (has_event_times_) {
      event_time_ms_ = std::move(spec.event_time_ms);
    }
  }

  std::vector<const Vertex*> upstream() const override { return {}; }
  bool has_fiber() const override { return true; }
  std::uint64_t source_memory_bytes() const override { return memory_bytes_; }
  std::vector<ComparedInput> compared_inputs() const override { return compared_inputs_; }

  std::vector<InputShape> inputs(const Roles& roles) const override {
    return roles.feeds() ? std::vector<InputShape>{{.entry_bytes = sizeof(R),
                                                    .header_bytes = sizeof(ExchangeHeader),
                                                    .has_texts = kHasText<R>,
                                                    .from_one = true}}
                         : std::vector<InputShape>();
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "source", .facts = {has_event_times_ ? "with event times" : "without event times"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    TaskContext& context = graph.context();
    const Roles& roles = context.roles;
    if (each_process_reads_ && !context.process_reads) {
      return absl::InvalidArgumentError(
          "each node has records of its own, such as those of a queue, and no executor of this node reads: leave out "
          "--ingest=channel, and with --engine=uppar give each node two --executors or more");
    }
    absl::StatusOr<std::unique_ptr<Source<R>>> source = std::make_unique<EmptySource<R>>();
    if (roles.Reads(context.self)) {
      source = open_({.executor = ExecutorId{roles.ReaderOf(context.self)},
                      .executor_count = roles.reader_count(),
                      .clock = context.clock,
                      .watch = context.watch});
    }
    if (!source.ok()) {
      return source.status();
    }
    if (roles.feeds()) {
      return OpenFed(graph, *std::move(source));
    }
    return std::make_unique<SourceReader<R>>(context, graph.reading_order(), *std::move(source), has_event_times_,
                                             graph.part());
  }

 private:
  absl::StatusOr<std::unique_ptr<Operator>> OpenFed(OpenGraph& graph, std::unique_ptr<Source<R>> source) const {
    TaskContext& context = graph.context();
    const Roles& roles = context.roles;
    if constexpr (!RecordData<R> || alignof(R) > sizeof(ExchangeHeader)) {
      return absl::InvalidArgumentError(
          "the records of a source cannot move to another executor, since they have members other than numbers, enums "
          "and texts, or no description (GLAIVE_RECORD): leave out --ingest=channel");
    } else if (roles.Reads(context.self)) {
      auto feeder = std::make_unique<SourceFeeder<R>>(context, graph.shipper(), graph.reading_order(),
                                                      std::move(source), event_time_ms_, graph.part(),
                                                      graph.next_input(), roles.FedBy(context.self));
      graph.AddInput(*feeder);
      return feeder;
    } else {
      auto reader =
          std::make_unique<ChannelReader<R>>(context, graph.shipper(), graph.reading_order(), has_event_times_,
                                             graph.part(), graph.next_input(), roles.FeederOf(context.self));
      graph.AddInput(*reader);
      return reader;
    }
  }

  SourceFactory<R> open_;
  std::function<std::int64_t(const R&)> event_time_ms_;  // null without event times
  std::uint64_t memory_bytes_;
  std::vector<ComparedInput> compared_inputs_;
  bool each_process_reads_;
  bool has_event_times_;
};

}  // namespace glaive::engine
