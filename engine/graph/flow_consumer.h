// FlowConsumer: what takes in a stream of records on one executor: the input of a stage, or the writer of a sink.
//
// A producer (a source's reader, or the trigger of a stage) hands it batches, in the producer's fiber, one call a
// batch. Used by one executor's thread.
//
//   consumer.Take(fiber, batch, was_ready, read_ns);     // any number of times, watermarks never go back
//   consumer.End(fiber);                                 // once, behind the last batch
#pragma once

#include <cstdint>

#include "engine/fiber/fiber.h"
#include "engine/progress/event_time.h"
#include "engine/progress/idleness.h"
#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class FlowConsumer {
 public:
  virtual ~FlowConsumer() = default;

  /// Takes what a batch has: records, a watermark, or neither. `was_ready` is whether the producer had something to
  /// read before it made the batch: an empty batch of a producer that had nothing is silence. The records are used up
  /// when it returns; it may suspend the fiber. `read_ns` is when the batch was read.
  virtual void Take(Fiber& fiber, const SourceBatch<R>& batch, bool was_ready, std::int64_t read_ns) = 0;
  /// Tells the other executors how far the stream has come, if they don't know it: the producer is going to wait.
  virtual void Settle(Fiber& /*fiber*/) {}
  /// All flows of the stage that the stream comes from are idle: other streams need not wait for this one.
  virtual void OnUpstreamIdle(std::int64_t /*now_ns*/) {}
  /// One of them is active: other streams wait for this one.
  virtual void OnUpstreamActive(std::int64_t /*now_ns*/) {}
  /// The stream has ended.
  virtual void End(Fiber& fiber) = 0;

  /// Whether the stream is so far ahead of others that its source has to wait (invariant I7).
  virtual bool LeadsTooFar() const { return false; }
  /// Whether there is something to do although nothing was read: a Take of an empty batch would do it.
  virtual bool AttentionIsDue(std::int64_t /*now_ns*/) const { return false; }
  /// How far the stream has come.
  virtual std::int64_t watermark_ms() const { return kMaxEventTimeMs; }
  /// The stream's silences; null where nobody minds them.
  virtual const Idleness* idleness() const { return nullptr; }
};

}  // namespace glaive::engine
