// QueuePair: posts one-sided writes to one peer node, in order.
//
// The channels of an executor to all executors of a node share one queue pair, so a completion is routed by its wr_id.
// Owned by its Transport; used by the executor's thread alone.
//
//   Q1 Bytes of writes are placed in any order, those of different writes too.
//   Q2 Immediate values arrive in the order in which they were posted, each when all bytes of its write and of all
//      writes before it are in place (Transport::PollArrivals).
//   Q3 Over verbs, an 8-byte write to an 8-byte aligned place is seen whole or not at all.
//   Q4 The memory of a write stays untouched until the write has completed, or until the peer has returned its credit.
//      That of an inline write may be reused at once.
//   Q5 A completion stands for all earlier writes of its queue pair; only signaled writes have one.
//
// Cost: one virtual call per buffer.
//
//   qp->TryPostWrite({.local = segment, .length = 4160, .local_key = key, .remote = ring, .remote_offset = 61376,
//                     .wr_id = 7, .signaled = true});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rdma/base/ids.h"

namespace glaive::rdma {

/// Names registered local memory in a WriteRequest.
enum class LocalKey : std::uint32_t {};

/// A peer's exposed memory, as Transport::Attach gives it: where it is, and the right to write there.
struct RemoteRegion {
  std::uint64_t address = 0;     ///< local and shm: where it is mapped here; RC: its address over there
  std::uint64_t size_bytes = 0;  ///< that peers may write; writes past it are a CHECK
  std::uint32_t key = 0;         ///< local and shm: the number of the region's arrival queue; RC: the remote key
  ExecutorId owner{};            ///< RC: the executor that immediate values are for
};

/// One write. `remote_offset` counts from the region's start.
struct WriteRequest {
  const std::byte* local = nullptr;
  std::uint32_t length = 0;  ///< at least 1; 0 for an immediate value alone
  LocalKey local_key{};      ///< not needed for an inline write
  RemoteRegion remote;
  std::uint64_t remote_offset = 0;
  std::uint64_t wr_id = 0;                   ///< comes back in the completion
  bool signaled = false;                     ///< wants a completion
  bool inline_payload = false;               ///< copied while posting; at most 8 bytes
  std::optional<std::uint32_t> immediate{};  ///< only where Transport::arrival() is kImmediate
};

/// See the head of this file.
class QueuePair {
 public:
  virtual ~QueuePair() = default;

  /// False: the send queue is full or not connected, nothing happened; poll completions and try again.
  virtual bool TryPostWrite(const WriteRequest& request) = 0;
};

}  // namespace glaive::rdma
