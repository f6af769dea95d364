// The two ends of a case while it runs: they send, receive and echo full slots over the channels of connected meshes.
//
// Each is used by one thread. All calls spin until they are done.
//
//   SendingEnd sender(shape, meshes);         ReceivingEnd receiver(shape, meshes);
//   const double seconds = sender.Send(1024); receiver.Receive(1024);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/channel/channel_case.h"

namespace glaive::bench {

/// See the head of this file. The shape and the meshes are borrowed.
class SendingEnd {
 public:
  SendingEnd(const ChannelCase& shape, Meshes& meshes) : shape_(shape), meshes_(meshes) {}

  /// Sends `messages`, spread over the channels. Seconds until the receiver has returned all their credits.
  double Send(std::uint64_t messages);
  /// Seconds for `messages` full slots there and back on the first channel, one at a time.
  double Echo(std::uint64_t messages);

 private:
  bool CreditsAreBack();

  const ChannelCase& shape_;
  Meshes& meshes_;
};

/// See the head of this file. The shape and the meshes are borrowed.
class ReceivingEnd {
 public:
  ReceivingEnd(const ChannelCase& shape, Meshes& meshes) : shape_(shape), meshes_(meshes) {}

  /// Receives `messages` from all senders together, and returns their credits.
  void Receive(std::uint64_t messages);
  /// Sends back what the first sender sends.
  void Echo(std::uint64_t messages);

  /// Of all words that were read, so that the compiler keeps the reading.
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t TakeTurn();
  std::uint64_t ReceiveAvailable(rdma::ExecutorMesh& mesh);
  void ReturnCredits();

  const ChannelCase& shape_;
  Meshes& meshes_;
  std::uint64_t sum_ = 0;
};

/// The sum of the words of `data`; a rest of less than a word is left out.
std::uint64_t ReadEveryByte(std::span<const std::byte> data);

}  // namespace glaive::bench
