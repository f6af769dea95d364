// Operator and Consumer: an operator does the work of a vertex of a query's graph on one executor. This is its
// contract.
//
//    ┌──────────┐   Take(batch)  On(control)  Flush()  Attend()    ┌──────────┐
//    │ producer │  ─────────────────────────────────────────────►  │ consumer │ ─────► the state of a stage,
//    │ its      │   LeadsTooFar()?  WantsTurn()?  watermark_ms()?  │ no fiber │        a sink, or its own Output
//    │ Output   │  ◄─────────────────────────────────────────────  │ of its   │
//    └──────────┘   answers                                        │ own      │
//     in a fiber: "source", "ingest", "trigger", "exchange",      └──────────┘
//     or "loop"
//
// A producer has an Output (output.h), which calls its consumers and checks rules 1, 2 and 3. A source's reader, the
// reader of a channel from a feeder, a stage (its trigger), the receiving end of an exchange and the head of a loop
// have a fiber. Other producers are consumers as well: flat maps, event-time operators, unions, keyed operators,
// windows by the order of records, interval joins, zips, reorders, and the other parts of a loop. They run in the fiber
// of the producer before them. Four operators are consumers and no producers: the input of a stage, the writer of a
// sink, the sending end of an exchange, and the end of a loop where it takes records back.
//
//   1. Take, On, Flush and Attend of a consumer come one after the other: none begins while another is suspended.
//   2. Watermarks ascend. Idle and Active alternate, and no batch and no watermark comes between Idle and Active.
//   3. EndOfStream comes once, and last. It may come between Idle and Active.
//   4. Take, On, Flush and Attend may suspend the fiber: for a free segment, for the inbox credit of an exchange, for a
//      sink, for an iteration of a loop to begin, or to end a long turn. LeadsTooFar, WantsTurn and watermark_ms change
//      nothing, and any fiber may call them.
//   5. A batch belongs to the producer and is valid until Take returns.
//   6. A watermark comes behind all records that it covers. The consumer passes it on only when those records are in
//      the state, or on their way to it (invariant I3).
//   7. At the end of a turn, and while it waits, a producer calls Attend of each consumer that wants a turn.
//   8. A consumer that waits for inbox credit, or for a sink, lets the producer's other consumers have the turns that
//      they want meanwhile (other_consumers.h). A wait for a segment needs no such turns: leaders return segments
//      without waiting for markers.
//   9. A producer that is about to wait for slower flows calls Flush first. Else flows could wait for each other's old
//      watermarks (invariant I7).
//  10. A failure ends the run: TaskContext::Fail, which does not return.
//  11. A consumer that makes records in its producer's fiber passes Flush and Attend on to its Output, and tells it the
//      other consumers by Output::SetUpstream. It answers WantsTurn, LeadsTooFar and watermark_ms by its Output, unless
//      event time changes or ends at it. TimedOperator (timed_producer.h) does all of that.
//
// Owned by the executor's task, used by its thread alone.
//
//   class Printer final : public Operator, public Consumer<Word> {
//    public:
//     void Take(Fiber&, const Batch<Word>& batch) override { for (const Word& word : batch.records) Print(word); }
//     void On(Fiber&, const Control& control) override { ended_ = std::holds_alternative<EndOfStream>(control); }
//   };
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "engine/fiber/fiber.h"
#include "engine/fiber/scheduler.h"
#include "engine/files/result_part.h"
#include "engine/flow/batch.h"
#include "engine/flow/control.h"
#include "engine/graph/other_consumers.h"
#include "engine/graph/turn.h"

namespace glaive::engine {

/// The work of a vertex on one executor. The thread that ends the run calls Commit.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Adds the fibers that do its work, if it has any.
  virtual absl::Status Spawn(Scheduler& /*scheduler*/) { return absl::OkStatus(); }
  /// Adds what it has counted to the context's metrics; once, at the end.
  virtual void Measure() {}
  /// Adds the files that Commit will make final; see Sink::AddParts.
  virtual void AddParts(std::vector<ResultPart>& /*parts*/) const {}
  /// Makes its output final, once every executor of the run has succeeded.
  virtual absl::Status Commit() { return absl::OkStatus(); }
};

/// Takes in a stream of records of type R.
template <typename R>
class Consumer {
 public:
  virtual ~Consumer() = default;

  virtual void Take(Fiber& fiber, const Batch<R>& batch) = 0;
  virtual void On(Fiber& fiber, const Control& control) = 0;
  /// Tells the other executors how far the stream has come: the producer is going to wait.
  virtual void Flush(Fiber& /*fiber*/) {}

  /// Whether Attend would do something.
  virtual bool WantsTurn(const Turn& /*turn*/) const { return false; }
  /// Ends an epoch that is due, and follows other flows if the stream is idle.
  virtual void Attend(Fiber& /*fiber*/, const Turn& /*turn*/) {}

  /// Whether a source has to wait because it is too far ahead of other streams (invariant I7). `ahead_ms` is the
  /// source's event time minus the stream's: positive where a union holds the stream back for another source, and
  /// negative where the stream went on without this source.
  virtual bool LeadsTooFar(std::int64_t /*ahead_ms*/) const { return false; }
  /// How far the stream has come for the consumer's stage, which may be further than its producer has come: an idle
  /// flow follows others. None of a consumer that compares no streams.
  virtual std::optional<std::int64_t> watermark_ms() const { return std::nullopt; }

  /// While the graph is opened: the other consumers of its producer. They outlive the run.
  virtual void SetOthers(OtherConsumers& others) { others_ = &others; }

 protected:
  /// Null where no Output is between producer and consumer.
  OtherConsumers* others() const { return others_; }

 private:
  OtherConsumers* others_ = nullptr;
};

}  // namespace glaive::engine
