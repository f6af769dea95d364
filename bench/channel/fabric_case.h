// A case over verbs: the receiver leads, the senders follow what it announces over the control plane.
//
// Each step is collective. A sender takes its time from the step's announcement until the receiver has returned all its
// credits; the control plane is silent meanwhile.
//
//   receiver:  FabricCase fabric(plane, device, cases, 3);  const double seconds = fabric.Time(Step::kSend, 1024);
//   sender:    FollowReceiver(plane, device, cases);        // does the steps of all cases until LeaveSenders
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bench/channel/channel_ends.h"
#include "bench/common/device_counters.h"
#include "bench/common/meeting.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {

/// What all ends do together. The number that goes with a step: of the case, or messages of each sender.
enum class Step : std::uint8_t { kBeginCase, kSend, kEcho, kCount, kEndCase, kLeave };

class FabricEnd;

/// See the head of this file. Made and used by the receiver.
class FabricCase {
 public:
  /// All ends have the same `cases`, and make this one. `cases` are borrowed.
  FabricCase(rdma::ControlPlane& plane, const rdma::DeviceChoice& device, std::span<const ChannelCase> cases,
             std::size_t index);
  FabricCase(const FabricCase&) = delete;
  FabricCase& operator=(const FabricCase&) = delete;
  ~FabricCase();

  /// Seconds that the slowest sender needed. kSend: each sender sends `messages`, spread over its channels. kEcho: the
  /// first one's go there and back.
  double Time(Step step, std::uint64_t messages);

  /// What the devices of all ends counted since the last call, or since the case began: see Collect.
  DeviceCounters CountersSince();

 private:
  rdma::ControlPlane& plane_;
  std::unique_ptr<FabricEnd> end_;
};

/// A sender's part in all cases.
void FollowReceiver(rdma::ControlPlane& plane, const rdma::DeviceChoice& device, std::span<const ChannelCase> cases);

/// Ends FollowReceiver at all senders.
void LeaveSenders(rdma::ControlPlane& plane);

}  // namespace glaive::bench
