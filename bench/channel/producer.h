// The producer's side of a case of the channel benchmark: it begins each round, does its half and takes the time.
//
//   Producer producer(setup);
//   const double seconds = producer.TimeChannel(1024);
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/channel/channel_case.h"

namespace glaive::bench {

/// See the head of this file. Made after the consumer was started; its end is the consumer's.
class Producer {
 public:
  explicit Producer(const ChannelSetup& setup);
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  ~Producer();

  /// Seconds until the consumer has read `messages` messages, spread over the channels.
  double TimeChannel(std::uint64_t messages);
  /// The same with nothing but a plain copy; not over verbs.
  double TimeCopy(std::uint64_t messages);
  /// Seconds for `messages` full slots there and back, one at a time.
  double TimeEcho(std::uint64_t messages);

 private:
  template <typename Produce>
  double Time(Work work, std::uint64_t messages, const Produce& produce);
  void Begin(Work work, std::uint64_t messages);
  void Await();

  const ChannelSetup& setup_;
  rdma::PageRegion source_;
  std::vector<std::unique_ptr<rdma::ExecutorMesh>> meshes_;
  std::uint64_t round_ = 0;
  std::uint64_t copies_ = 0;
};

}  // namespace glaive::bench
