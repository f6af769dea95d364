// ArrivalQueue: a ring in shared memory for the immediate values of writes by executors of this host.
//
// It has the role of a device's completion queue: an idle reader polls one cache line, however many writers there are.
//
//   offset      size
//   0           8      tickets that writers have drawn, each for the next value
//   64          8      capacity, a power of two
//   128         8 each values: value t mod capacity has the lap of ticket t in its upper half, the immediate in its
//                      lower half
//
// A writer draws a ticket, then stores its value with release. A reader that loads the value with acquire sees all
// earlier writes of the writer. One executor reads; any thread or process writes.
//
//   AQ1 At most `capacity` values wait, because each channel has at most c messages and c returns of credits that were
//       not read.
//
// Costs: a push is an atomic addition to a shared line and a store; an empty poll is a load.
//
//   ArrivalQueue queue = ArrivalQueue::Make(memory, 64);      // the reader
//   absl::StatusOr<ArrivalQueue> there = ArrivalQueue::Open(mapped);  // a writer
//   there->Push(7);
//   count = queue.Poll(values);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace glaive::rdma {

/// See the head of this file. A value: it refers to the memory.
class ArrivalQueue {
 public:
  /// Bytes that a queue takes in which at least `values` wait: a multiple of 4096, so that aligned memory can follow.
  static std::size_t BytesFor(std::uint32_t values);

  /// An empty queue at the start of `memory`: BytesFor(values) bytes, 64-byte aligned.
  static ArrivalQueue Make(std::span<std::byte> memory, std::uint32_t values);

  /// The queue that another executor has made at the start of `memory`. InvalidArgument if none fits there.
  static absl::StatusOr<ArrivalQueue> Open(std::span<std::byte> memory);

  /// Bytes of memory that it takes.
  std::size_t size_bytes() const;

  /// For writers.
  void Push(std::uint32_t value);

  /// For the reader: takes up to values.size() values, in the order of their tickets; says how many. DataLoss when a
  /// writer has written over a value that was not read (AQ1).
  absl::StatusOr<std::size_t> Poll(std::span<std::uint32_t> values);

 private:
  ArrivalQueue(std::byte* memory, std::uint64_t capacity) : memory_(memory), capacity_(capacity) {}

  std::uint64_t& ValueOf(std::uint64_t ticket) const;

  std::byte* memory_;
  std::uint64_t capacity_;
  std::uint64_t polled_ = 0;  // of the reader
};

}  // namespace glaive::rdma
