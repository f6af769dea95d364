// The producer's side of a case over shm or local: it begins each round, does its half and takes the time.
//
//   Producer producer(setup);
//   const double seconds = producer.TimeChannel(1024);
#pragma once

#include <cstdint>

#include "bench/channel/channel_ends.h"
#include "bench/channel/copy_case.h"

namespace glaive::bench {

/// See the head of this file. Made after the consumer was started; its end is the consumer's.
class Producer {
 public:
  explicit Producer(const CopySetup& setup);
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  ~Producer();

  /// Seconds until the consumer has read `messages` messages, spread over the channels.
  double TimeChannel(std::uint64_t messages);
  /// The same with nothing but a plain copy.
  double TimeCopy(std::uint64_t messages);
  /// Seconds for `messages` full slots there and back, one at a time.
  double TimeEcho(std::uint64_t messages);

 private:
  template <typename Produce>
  double Time(Work work, std::uint64_t messages, const Produce& produce);
  Meshes MeetConsumer();
  void Begin(Work work, std::uint64_t messages);
  void Await();

  const CopySetup& setup_;
  rdma::PageRegion source_;
  std::uint64_t round_ = 0;
  std::uint64_t copies_ = 0;
  Meshes meshes_;
  SendingEnd end_;
};

}  // namespace glaive::bench
