#include "bench/channel/copy_case.h"

#include <cstring>
#include <string>

#include "bench/channel/channel_ends.h"
#include "rdma/base/check.h"

namespace glaive::bench {
namespace {

// The rounds as the consumer sees them.
class Consumer {
 public:
  explicit Consumer(const CopySetup& setup) : setup_(setup), control_(*setup.control) {}

  void Run() {
    AwaitRound();
    // The producer's descriptors are there since it began the first round.
    Meshes meshes = PublishMeshes(setup_, kReceiver);
    FinishRound();
    ConnectPublished(setup_, meshes);
    ReceivingEnd end(setup_.shape, meshes);
    for (AwaitRound(); control_.work != Work::kStop; AwaitRound()) {
      DoWork(end);
      control_.sum = sum_ + end.sum();
      FinishRound();
    }
    FinishRound();
  }

 private:
  void AwaitRound() {
    ++round_;
    SpinUntil([&] { return control_.round.load(std::memory_order_acquire) == round_; });
  }
  void FinishRound() { control_.finished.store(round_, std::memory_order_release); }

  void DoWork(ReceivingEnd& end) {
    switch (control_.work) {
      case Work::kCopy:
        return ReceiveCopies(control_.messages);
      case Work::kChannel:
        return end.Receive(control_.messages);
      case Work::kEcho:
        return end.Echo(control_.messages);
      case Work::kSetUp:
      case Work::kStop:
        return;
    }
  }

  void ReceiveCopies(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      SpinUntil([&] { return control_.copied.load(std::memory_order_acquire) > copies_; });
      sum_ += ReadEveryByte({setup_.CopySlot(copies_), setup_.shape.slot_bytes});
      control_.consumed.store(++copies_, std::memory_order_release);
    }
  }

  const CopySetup& setup_;
  Control& control_;
  std::uint64_t round_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t copies_ = 0;
};

}  // namespace

Meshes PublishMeshes(const CopySetup& setup, ExecutorId self) {
  Meshes meshes = PrepareMeshes(setup.shape, self, rdma::RunKey{}, nullptr);
  auto& place = setup.control->descriptions[Value(self)];
  const std::string text = DescribeMeshes(meshes);
  GLAIVE_CHECK(text.size() < place.size(), "descriptions of ", text.size(), " bytes");
  std::memcpy(place.data(), text.c_str(), text.size() + 1);
  return meshes;
}

void ConnectPublished(const CopySetup& setup, Meshes& meshes) {
  const auto& texts = setup.control->descriptions;
  const std::array<std::string, 2> descriptions = {texts[0].data(), texts[1].data()};
  ConnectMeshes(setup.shape, descriptions, meshes);
}

void Consume(const CopySetup& setup) { Consumer(setup).Run(); }

}  // namespace glaive::bench
