// ZipOperator: pairs the records of two streams in the order in which they come, on one executor.
//
//    left stream  ─┐
//                  ├─ union ─ exchange to executor 0 ──► the stream that is ahead waits ──► pairs ──► consumers
//    right stream ─┘
//
// What moves: all records, to executor 0, by the exchange in front of the operator. The first record of the left stream
// to arrive there makes a pair with the first one of the right stream, and so on. Records of one executor arrive in
// their order. Records of the longer stream that find no partner until the end make no pair.
//
// Records that wait are in the executor's state, and count against its budget (invariant I6). A pair has the later one
// of its records' event times, or the watermark if that is later. So no pair is late. A turn is bounded: it ends after
// StateThresholds::entries_per_turn records.
//
// Owned by the executor's task, used by its thread alone. ZipVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/described_state.h"
#include "engine/graph/joined_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/sink/sink.h"
#include "state/log/value_texts.h"
#include "state/store/fifo.h"
#include "state/store/small_blocks.h"

namespace glaive::engine {

/// A record of each stream.
template <typename A, typename B>
struct Zipped {
  using Members = std::tuple<A, B>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("first", self.first);
    visit("second", self.second);
  }

  A first{};
  B second{};

  friend bool operator==(const Zipped&, const Zipped&) = default;
};

template <typename A, typename B>
class ZipOperator final : public TimedOperator<TimedRecord<JoinedRecord<AllRecords, A, B>>, Zipped<A, B>>,
                          public DescribedState {
 public:
  using In = TimedRecord<JoinedRecord<AllRecords, A, B>>;

  /// `context` outlives the operator.
  explicit ZipOperator(TaskContext& context) : TimedOperator<In, Zipped<A, B>>(context), context_(&context) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const Stretch stretch{.read_ns = batch.read_ns};
    for (const In& timed : batch.records) {
      const std::int64_t time_ms = timed.event_time_ms + batch.event_time_shift_ms;
      if (timed.record.left) {
        Meet(fiber, {.event_time_ms = time_ms, .record = *timed.record.left}, first_, second_,
             [&](const TimedRecord<A>& first, const TimedRecord<B>& second) { Emit(fiber, stretch, first, second); });
      } else {
        Meet(fiber, {.event_time_ms = time_ms, .record = *timed.record.right}, second_, first_,
             [&](const TimedRecord<B>& second, const TimedRecord<A>& first) { Emit(fiber, stretch, first, second); });
      }
      this->CountWork(fiber, stretch);
    }
    this->HandOn(fiber, stretch);
  }

  void On(Fiber& fiber, const Control& control) override {
    if (std::holds_alternative<EndOfStream>(control)) {
      blocks_.ReleaseAll(*context_->memory);
      first_.texts.Release(*context_->memory);
      second_.texts.Release(*context_->memory);
    }
    output().Emit(fiber, control);
  }

  std::string Describe() const override {
    return absl::StrCat("Zip() stores ", first_.records.size(), " records of ", sizeof(TimedRecord<A>),
                        " bytes of its first stream and ", second_.records.size(), " of ", sizeof(TimedRecord<B>),
                        " bytes of its second one, which have no partner yet");
  }

 private:
  using Stretch = typename TimedProducer<Zipped<A, B>>::Stretch;
  using TimedOperator<In, Zipped<A, B>>::output;
  /// The records of a stream that wait for the other one.
  template <typename R>
  struct Waiting {
    state::Fifo<TimedRecord<R>> records;
    [[no_unique_address]] state::ValueTexts<TimedRecord<R>> texts;
  };

  /// Pairs a record with the oldest of the other stream, if one waits there.
  template <typename Own, typename Other, typename Pair>
  void Meet(Fiber& fiber, const TimedRecord<Own>& record, Waiting<Own>& own, Waiting<Other>& other, const Pair& pair) {
    if (other.records.size() > 0) {
      const TimedRecord<Other>& oldest = other.records.elements().front();
      pair(record, oldest);
      other.texts.Drop(oldest);
      other.records.Pop(*context_->memory, blocks_, 1);
      return;
    }
    absl::Status status = own.records.Push(*context_->memory, blocks_, record);
    if (status.ok()) {
      status =
          own.texts.Change(*context_->memory, own.records.back(), state::Age::kNew, [](TimedRecord<Own>& /*owned*/) {});
    }
    context_->Require(fiber, Explain(status));
  }

  void Emit(Fiber& fiber, const Stretch& stretch, const TimedRecord<A>& first, const TimedRecord<B>& second) {
    this->Add(fiber, stretch, std::max({first.event_time_ms, second.event_time_ms, output().watermark_ms()}),
              {.first = first.record, .second = second.record});
  }

  TaskContext* context_;
  state::SmallBlocks blocks_;
  Waiting<A> first_;
  Waiting<B> second_;
};

/// `Origin` is a TimedOrigin, of an exchange to executor 0.
template <typename Origin, typename A, typename B>
class ZipVertex final : public TimedVertex<Origin, Zipped<A, B>> {
 public:
  explicit ZipVertex(Origin origin) : TimedVertex<Origin, Zipped<A, B>>(std::move(origin)) {}

  bool adds_past_results() const override { return this->origin().vertex->adds_past_results(); }
  std::string_view why_not_in_loops() const override {
    return "Zip() in the body of a loop would pair records of two iterations";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "zip", .facts = {"pairs in the order of arrival"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<ZipOperator<A, B>>(graph.context()));
  }
};

}  // namespace glaive::engine
