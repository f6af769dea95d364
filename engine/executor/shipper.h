// Shipper: sends what a query's inputs have for other executors: an RDMA fiber and the outbox that it empties.
//
// Owned by a query task, used by its executor's thread. The fiber serves executors with segments in turn, and sleeps
// while there is none, or no channel to one has a credit. An executor that is slow to receive holds back only its own
// segments.
//
//   Shipper shipper(context, input_count);
//   status = shipper.Spawn(scheduler);
//   fragment.TrySeal(leader, marker);   // of a fragment that was made with shipper.outbox()
//   shipper.EndInput();       // after an input's last message: the fiber ends when all has been sent of all inputs
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "state/epoch/outbox.h"

namespace glaive::engine {

class Shipper {
 public:
  /// `context` outlives the shipper; the query has `input_count` inputs.
  Shipper(TaskContext& context, std::uint32_t input_count);

  /// Adds the fiber.
  absl::Status Spawn(Scheduler& scheduler);

  state::Outbox& outbox() { return outbox_; }

  /// Says that nothing more will be queued of one of the inputs.
  void EndInput() { --open_inputs_; }

  /// Brings the context's counters of messages, bytes, stalls and laps up to date. Once, behind the operators: what
  /// exchanges have sent does not count as deltas.
  void Measure() const;

 private:
  void Ship(Fiber& fiber);
  bool CanSend() const;
  void SendSome();

  TaskContext* context_;
  state::Outbox outbox_;
  std::uint32_t open_inputs_;
};

}  // namespace glaive::engine
