#include "bench/channel/channel_case.h"

#include <cstring>
#include <optional>

#include "bench/common/or_die.h"

namespace glaive::bench {
namespace {

using rdma::ChannelReceiver;
using rdma::ExecutorMesh;
using rdma::MeshDescriptor;
using rdma::MeshOptions;
using rdma::Message;
using rdma::SegmentId;
using rdma::TransportKind;

std::uint64_t ReadEveryByte(const std::byte* data, std::size_t size_bytes) {
  std::uint64_t sum = 0;
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
  for (std::size_t i = 0; i < size_bytes / sizeof(std::uint64_t); ++i) sum += words[i];
  return sum;
}

MeshOptions OptionsOf(const ChannelSetup& setup, ExecutorId self) {
  MeshOptions options;
  options.self = self;
  options.executors_per_node = setup.shape.kind == TransportKind::kLocal ? 2 : 1;
  options.executor_count = 2;
  options.same_host = setup.shape.kind;
  options.channel.slot_bytes = setup.shape.slot_bytes;
  options.channel.credits = setup.shape.credits;
  options.channel.signal_interval = setup.shape.signal_interval;
  if (setup.shape.kind == TransportKind::kVerbs) options.device = OrDie(rdma::VerbsDevice::Open(setup.device));
  return options;
}

// The rounds as the consumer sees them.
class Consumer {
 public:
  explicit Consumer(const ChannelSetup& setup) : setup_(setup), control_(*setup.control) {}

  void Run() {
    AwaitRound();
    // The producer's descriptors are there since it began the first round.
    meshes_ = MakeMeshes(setup_, kConsumer, [this] { FinishRound(); }, [] {});
    for (AwaitRound(); control_.work != Work::kStop; AwaitRound()) {
      DoWork();
      control_.sum = sum_;
      FinishRound();
    }
    FinishRound();
  }

 private:
  void AwaitRound() {
    ++round_;
    SpinUntil([&] { return control_.round.load(std::memory_order_acquire) == round_; }, setup_.attempts_before_yield());
  }
  void FinishRound() { control_.finished.store(round_, std::memory_order_release); }

  void DoWork() {
    switch (control_.work) {
      case Work::kCopy:
        return ReceiveCopies(control_.messages);
      case Work::kChannel:
        return ReceiveMessages(control_.messages);
      case Work::kEcho:
        return Echo(control_.messages);
      case Work::kSetUp:
      case Work::kStop:
        return;
    }
  }

  void ReceiveCopies(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      SpinUntil([&] { return control_.copied.load(std::memory_order_acquire) > copies_; });
      sum_ += ReadEveryByte(setup_.CopySlot(copies_), setup_.shape.slot_bytes);
      control_.consumed.store(++copies_, std::memory_order_release);
    }
  }

  void ReceiveMessages(std::uint64_t count) {
    std::uint64_t received = 0;
    SpinUntil(
        [&] {
          const std::uint64_t before = received;
          for (const auto& mesh : meshes_) received += ReceiveAvailable(*mesh);
          // Something came, so something may come at once: start to count idle turns anew.
          while (received != before && received < count) {
            std::uint64_t more = 0;
            for (const auto& mesh : meshes_) more += ReceiveAvailable(*mesh);
            if (more == 0) break;
            received += more;
          }
          return received >= count;
        },
        setup_.attempts_before_yield());
    GiveBackAll();
  }

  // A turn of one channel, as an executor takes it.
  std::uint64_t ReceiveAvailable(ExecutorMesh& mesh) {
    ChannelReceiver& receiver = mesh.receiver(kProducer);
    std::uint64_t received = 0;
    for (; received < setup_.shape.credits && receiver.Ready(); ++received) {
      const Message message = *OrDie(receiver.TryReceive());
      if (setup_.shape.read_payload) sum_ += ReadEveryByte(message.payload.data(), message.payload.size());
      receiver.Release();
      mesh.Flush();  // a credit that is held back keeps the sender waiting
    }
    if (received == 0) receiver.FlushCredits();
    OrDie(mesh.Poll());
    mesh.Flush();
    return received;
  }

  void GiveBackAll() {
    for (const auto& mesh : meshes_) {
      SpinUntil(
          [&] {
            OrDie(mesh->Poll());
            return mesh->receiver(kProducer).FlushCredits();
          },
          setup_.attempts_before_yield());
      mesh->Flush();
    }
  }

  void Echo(std::uint64_t count) {
    ExecutorMesh& mesh = *meshes_.front();
    for (std::uint64_t i = 0; i < count; ++i) {
      Receive(setup_, mesh, kProducer);
      mesh.receiver(kProducer).Release();
      SpinUntil([&] { return SendAvailable(mesh, kProducer, 1) == 1; }, setup_.attempts_before_yield());
      mesh.Flush();
    }
  }

  const ChannelSetup& setup_;
  Control& control_;
  std::vector<std::unique_ptr<ExecutorMesh>> meshes_;
  std::uint64_t round_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t copies_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<ExecutorMesh>> MakeMeshes(const ChannelSetup& setup, ExecutorId self,
                                                      const std::function<void()>& published,
                                                      const std::function<void()>& await_other) {
  MeshOptions options = OptionsOf(setup, self);
  auto& texts = setup.control->descriptors;
  std::vector<std::unique_ptr<ExecutorMesh>> meshes;
  for (std::uint32_t channel = 0; channel < setup.shape.channels; ++channel) {
    options.run_token = channel + 1;
    meshes.push_back(OrDie(ExecutorMesh::Prepare(options, setup.shape.segments)));
    const std::string text = meshes.back()->descriptor().Encode();
    std::memcpy(texts[Value(self)][channel].data(), text.c_str(), text.size() + 1);
  }
  published();
  await_other();
  for (std::uint32_t channel = 0; channel < setup.shape.channels; ++channel) {
    const std::array<MeshDescriptor, 2> all = {OrDie(MeshDescriptor::Decode(texts[0][channel].data())),
                                               OrDie(MeshDescriptor::Decode(texts[1][channel].data()))};
    OrDie(meshes[channel]->Connect(all));
  }
  for (const auto& mesh : meshes) {
    SpinUntil([&] { return !OrDie(mesh->PollConnecting()).has_value(); }, setup.attempts_before_yield());
  }
  return meshes;
}

std::uint64_t SendAvailable(ExecutorMesh& mesh, ExecutorId peer, std::uint64_t limit) {
  OrDie(mesh.Poll());
  std::uint64_t sent = 0;
  for (; sent < limit && mesh.sender(peer).HasCredit(); ++sent) {
    const std::optional<SegmentId> segment = mesh.segments().TryAcquire();
    if (!segment) break;
    if (!mesh.sender(peer).TrySend(*segment, mesh.segments().payload_capacity(), rdma::MessageTag())) {
      mesh.segments().Release(*segment);
      break;
    }
  }
  return sent;
}

Message Receive(const ChannelSetup& setup, ExecutorMesh& mesh, ExecutorId peer) {
  ChannelReceiver& receiver = mesh.receiver(peer);
  SpinUntil(
      [&] {
        OrDie(mesh.Poll());
        return receiver.Ready();
      },
      setup.attempts_before_yield());
  return *OrDie(receiver.TryReceive());
}

void Consume(const ChannelSetup& setup) { Consumer(setup).Run(); }

}  // namespace glaive::bench
