// DeltaShipper: the sending side of the epoch protocol: an RDMA fiber and the outbox that it empties.
//
// Owned by a query task, used by its executor's thread. The fiber serves leaders with segments in turn, and sleeps
// while there is none, or no channel to one has a credit. A leader that is slow to merge holds back only its own
// segments.
//
//   DeltaShipper shipper(context, input_count);
//   status = shipper.Spawn(scheduler);
//   fragment.TrySeal(leader, marker);   // of a fragment that was made with shipper.outbox()
//   shipper.EndInput();       // after an input's last epoch: the fiber ends when all has been delivered of all inputs
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "state/epoch/delta_outbox.h"

namespace glaive::engine {

class DeltaShipper {
 public:
  /// `context` outlives the shipper; the query has `input_count` inputs.
  DeltaShipper(TaskContext& context, std::uint32_t input_count);

  /// Adds the fiber.
  absl::Status Spawn(Scheduler& scheduler);

  state::DeltaOutbox& outbox() { return outbox_; }

  /// Says that nothing more will be queued of one of the inputs.
  void EndInput() { --open_inputs_; }

  /// Brings the context's counters of messages, bytes, stalls and laps up to date.
  void Measure() const;

 private:
  void Ship(Fiber& fiber);
  bool CanSend() const;
  void SendSome();

  TaskContext* context_;
  state::DeltaOutbox outbox_;
  std::uint32_t open_inputs_;
};

}  // namespace glaive::engine
