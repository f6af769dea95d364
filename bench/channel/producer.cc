#include "bench/channel/producer.h"

#include <chrono>
#include <cstring>

#include "bench/common/or_die.h"

namespace glaive::bench {

Producer::Producer(const CopySetup& setup)
    : setup_(setup),
      source_(OrDie(rdma::PageRegion::Map(setup.shape.slot_bytes))),
      meshes_(MeetConsumer()),
      end_(setup.shape, meshes_) {
  std::memset(source_.data(), 1, source_.size_bytes());
  Begin(Work::kSetUp, 0);  // the consumer's side stands as well when this round ends
  Await();
}

Producer::~Producer() {
  Begin(Work::kStop, 0);
  Await();
}

Meshes Producer::MeetConsumer() {
  Meshes meshes = PublishMeshes(setup_, kFirstSender);
  Begin(Work::kSetUp, 0);
  Await();
  ConnectPublished(setup_, meshes);
  return meshes;
}

double Producer::TimeChannel(std::uint64_t messages) {
  return Time(Work::kChannel, messages, [&] { end_.Send(messages); });
}

double Producer::TimeCopy(std::uint64_t messages) {
  Control& control = *setup_.control;
  return Time(Work::kCopy, messages, [&] {
    for (std::uint64_t i = 0; i < messages; ++i) {
      SpinUntil([&] { return copies_ - control.consumed.load(std::memory_order_acquire) < setup_.shape.credits; });
      std::memcpy(setup_.CopySlot(copies_), source_.data(), setup_.shape.slot_bytes);
      control.copied.store(++copies_, std::memory_order_release);
    }
  });
}

double Producer::TimeEcho(std::uint64_t messages) {
  return Time(Work::kEcho, messages, [&] { end_.Echo(messages); });
}

template <typename Produce>
double Producer::Time(Work work, std::uint64_t messages, const Produce& produce) {
  const auto start = std::chrono::steady_clock::now();
  Begin(work, messages);
  produce();
  Await();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Producer::Begin(Work work, std::uint64_t messages) {
  setup_.control->work = work;
  setup_.control->messages = messages;
  setup_.control->round.store(++round_, std::memory_order_release);
}

void Producer::Await() {
  SpinUntil([this] { return setup_.control->finished.load(std::memory_order_acquire) == round_; });
}

}  // namespace glaive::bench
