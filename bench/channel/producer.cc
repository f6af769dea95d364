#include "bench/channel/producer.h"

#include <chrono>
#include <cstring>

#include "bench/common/or_die.h"

namespace glaive::bench {

Producer::Producer(const ChannelSetup& setup)
    : setup_(setup), source_(OrDie(rdma::PageRegion::Map(setup.shape.slot_bytes))) {
  std::memset(source_.data(), 1, source_.size_bytes());
  meshes_ = MakeMeshes(setup, kProducer, [this] { Begin(Work::kSetUp, 0); }, [this] { Await(); });
  Begin(Work::kSetUp, 0);  // the consumer's side stands as well when this round ends
  Await();
}

Producer::~Producer() {
  Begin(Work::kStop, 0);
  Await();
}

double Producer::TimeChannel(std::uint64_t messages) {
  return Time(Work::kChannel, messages, [&] {
    std::uint64_t sent = 0;
    std::vector<std::uint64_t> left(meshes_.size(), messages / meshes_.size());
    left[0] += messages % meshes_.size();
    // A turn of all channels, as an executor takes it; while there is something to send, turn follows turn.
    const auto take_turn = [&] {
      std::uint64_t now = 0;
      for (std::size_t i = 0; i < meshes_.size(); ++i) {
        const std::uint64_t count = SendAvailable(*meshes_[i], kConsumer, left[i]);
        meshes_[i]->Flush();
        left[i] -= count;
        now += count;
      }
      sent += now;
      return now;
    };
    SpinUntil(
        [&] {
          while (sent < messages && take_turn() > 0) {
          }
          return sent == messages;
        },
        setup_.attempts_before_yield());
  });
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
  rdma::ExecutorMesh& mesh = *meshes_.front();
  return Time(Work::kEcho, messages, [&] {
    for (std::uint64_t i = 0; i < messages; ++i) {
      SpinUntil([&] { return SendAvailable(mesh, kConsumer, 1) == 1; }, setup_.attempts_before_yield());
      mesh.Flush();
      Receive(setup_, mesh, kConsumer);
      mesh.receiver(kConsumer).Release();
    }
  });
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
  SpinUntil([this] { return setup_.control->finished.load(std::memory_order_acquire) == round_; },
            setup_.attempts_before_yield());
}

}  // namespace glaive::bench
