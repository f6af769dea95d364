// ReceiveQueue: receives the immediate values of an executor's queue pairs: a shared receive queue (SRQ) and its
// completion queue.
//
// A WRITE with an immediate value takes one receive. Receives have no buffer, since a WRITE names the place of its
// data. Poll posts a receive for each one that was taken. When all are taken, the device makes the peers wait (RNR NAK)
// until some are posted, so a queue that is too short costs time and no message. Owned by a VerbsTransport and used by
// its executor's thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/verbs/thread_domain.h"
#include "rdma/verbs/verbs_device.h"

struct ibv_cq;
struct ibv_srq;

namespace glaive::rdma {

/// See the head of this file.
class ReceiveQueue {
 public:
  /// Posts `receives` receives, or as many as the device allows. `domain` outlives it. ResourceExhausted if there is
  /// too little locked memory.
  static absl::StatusOr<std::unique_ptr<ReceiveQueue>> Create(const VerbsDevice& device, const ThreadDomain& domain,
                                                              std::uint32_t receives);
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  ~ReceiveQueue();

  struct Received {
    std::uint32_t immediate = 0;
    std::uint32_t queue_pair = 0;  ///< its number on this host
  };

  /// Takes up to received.size() immediate values, in the order of their arrival; says how many. An error is the
  /// device's: nothing arrives any more.
  absl::StatusOr<std::size_t> Poll(std::span<Received> received);

  ibv_cq* completions() const { return completions_; }
  ibv_srq* receives() const { return receives_; }

 private:
  ReceiveQueue() = default;

  absl::Status Post(std::uint32_t count);

  ibv_cq* completions_ = nullptr;
  ibv_srq* receives_ = nullptr;
  std::string device_;
};

}  // namespace glaive::rdma
