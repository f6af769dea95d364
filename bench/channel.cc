// What a channel costs: throughput by slot size and credits, and the latency of a single slot.
//
// Each case runs a producer here and a consumer that reads every byte: in a second process over `shm`, in a second
// thread over `local`. Rounds of the channel alternate with rounds of the least that could be done instead: one plain
// memcpy of the same size from one warm buffer into a ring of the same shape and the same kind of memory, announced by
// one counter and given back by another. `ratio` is the median over the rounds of channel / plain copy, in payload
// bytes per second. The latency cases send a slot there and back; the time is half of that, and the consumer does not
// read the payload.
//
//   build/release/bin/channel --benchmark_filter='Throughput/shm.*slot:65536'

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "rdma/memory/page_region.h"
#include "rdma/mesh/executor_mesh.h"

namespace glaive::rdma {
namespace {

constexpr std::uint64_t kRoundBytes = std::uint64_t{64} << 20;
constexpr std::uint32_t kSegments = 8;
constexpr ExecutorId kProducer{0};
constexpr ExecutorId kConsumer{1};

enum class Work : std::uint32_t { kSetUp, kChannel, kCopy, kEcho, kStop };

// What both sides share beside the rings. The producer sets up a round and raises `round`; the consumer follows with
// `finished`. Every word that is polled has a cache line of its own.
struct Control {
  alignas(64) std::atomic<std::uint64_t> round;
  Work work;
  std::uint64_t messages;
  alignas(64) std::atomic<std::uint64_t> finished;
  alignas(64) std::atomic<std::uint64_t> copied;    // plain copies announced
  alignas(64) std::atomic<std::uint64_t> consumed;  // plain copies given back
  alignas(64) std::array<std::array<char, 1024>, 2> descriptors;
  std::uint64_t sum;  // keeps the consumer's reading alive
};

[[noreturn]] void Die(const absl::Status& status) {
  std::cerr << "channel benchmark: " << status << "\n";
  std::exit(1);
}

void OrDie(const absl::Status& status) {
  if (!status.ok()) Die(status);
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (!value.ok()) Die(value.status());
  return *std::move(value);
}

// Spins, and after a while lets others run: the machine may have fewer processors than it should.
template <typename Condition>
void SpinUntil(const Condition& condition) {
  for (int attempts = 0; !condition(); ++attempts) {
    if (attempts > 200) std::this_thread::yield();
  }
}

std::uint64_t ReadEveryByte(const std::byte* data, std::size_t size_bytes) {
  std::uint64_t sum = 0;
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
  for (std::size_t i = 0; i < size_bytes / sizeof(std::uint64_t); ++i) sum += words[i];
  return sum;
}

// The shape of a case and the memory that both sides have.
struct Setup {
  MeshOptions options;
  PageRegion control_memory;
  PageRegion copy_ring;

  Control& control() const { return *reinterpret_cast<Control*>(control_memory.data()); }
  std::uint32_t slot_bytes() const { return options.channel.slot_bytes; }
  std::uint32_t credits() const { return options.channel.credits; }
  std::byte* CopySlot(std::uint64_t number) const {
    return copy_ring.data() + number % credits() * std::size_t{slot_bytes()};
  }
};

// Publishes one side's descriptor, waits for the other's and connects.
std::unique_ptr<ExecutorMesh> MakeMesh(const Setup& setup, ExecutorId self, const std::function<void()>& published,
                                       const std::function<void()>& await_other) {
  MeshOptions options = setup.options;
  options.self = self;
  std::unique_ptr<ExecutorMesh> mesh = OrDie(ExecutorMesh::Prepare(options, kSegments));
  const std::string text = mesh->descriptor().Encode();
  std::memcpy(setup.control().descriptors[Value(self)].data(), text.c_str(), text.size() + 1);
  published();
  await_other();
  std::array<MeshDescriptor, 2> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = OrDie(MeshDescriptor::Decode(setup.control().descriptors[i].data()));
  }
  OrDie(mesh->Connect(all));
  return mesh;
}

// Sends one message of a full slot as soon as that is possible.
void Send(ExecutorMesh& mesh, ExecutorId peer) {
  std::optional<SegmentId> segment;
  SpinUntil([&] {
    if (!segment) segment = mesh.segments().TryAcquire();
    const bool sent = segment && mesh.sender(peer).TrySend(*segment, mesh.segments().payload_capacity(), MessageTag());
    OrDie(mesh.Poll());
    return sent;
  });
}

Message Receive(ExecutorMesh& mesh, ExecutorId peer) {
  ChannelReceiver& receiver = mesh.receiver(peer);
  SpinUntil([&] { return receiver.Ready(); });
  return *OrDie(receiver.TryReceive());
}

// The consumer's side of a case: does the work of each round until it is told to stop.
void Consume(const Setup& setup) {
  Control& control = setup.control();
  std::uint64_t round = 0;
  const auto await_round = [&] {
    ++round;
    SpinUntil([&] { return control.round.load(std::memory_order_acquire) == round; });
  };
  const auto finish_round = [&] { control.finished.store(round, std::memory_order_release); };
  await_round();
  const std::unique_ptr<ExecutorMesh> mesh = MakeMesh(setup, kConsumer, finish_round, await_round);
  finish_round();
  std::uint64_t sum = 0;
  std::uint64_t copies = 0;
  for (await_round(); control.work != Work::kStop; await_round()) {
    for (std::uint64_t i = 0; i < control.messages; ++i) {
      if (control.work == Work::kCopy) {
        SpinUntil([&] { return control.copied.load(std::memory_order_acquire) > copies; });
        sum += ReadEveryByte(setup.CopySlot(copies), setup.slot_bytes());
        control.consumed.store(++copies, std::memory_order_release);
        continue;
      }
      const Message message = Receive(*mesh, kProducer);
      if (control.work == Work::kChannel) sum += ReadEveryByte(message.payload.data(), message.payload.size());
      mesh->receiver(kProducer).Release();
      if (control.work == Work::kEcho) Send(*mesh, kProducer);
    }
    control.sum = sum;
    finish_round();
  }
  finish_round();
}

// A running consumer: a thread, or a process that dies with this one.
class ConsumerTask {
 public:
  ConsumerTask(const Setup& setup, bool process) {
    if (!process) {
      thread_ = std::thread([&setup] { Consume(setup); });
      return;
    }
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Consume(setup);
    _exit(0);
  }
  ConsumerTask(const ConsumerTask&) = delete;
  ConsumerTask& operator=(const ConsumerTask&) = delete;
  ~ConsumerTask() {
    if (thread_.joinable()) thread_.join();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

 private:
  std::thread thread_;
  pid_t pid_ = 0;
};

// The producer's side of a case.
class Producer {
 public:
  explicit Producer(const Setup& setup) : setup_(setup), source_(OrDie(PageRegion::Map(setup.slot_bytes()))) {
    std::memset(source_.data(), 1, source_.size_bytes());
    mesh_ = MakeMesh(setup, kProducer, [this] { Begin(Work::kSetUp, 0); }, [this] { Await(); });
    Begin(Work::kSetUp, 0);
    Await();
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  ~Producer() {
    Begin(Work::kStop, 0);
    Await();
  }

  // Seconds until the consumer has read `messages` messages.
  double TimeChannel(std::uint64_t messages) {
    return Time(Work::kChannel, messages, [&] {
      for (std::uint64_t i = 0; i < messages; ++i) Send(*mesh_, kConsumer);
    });
  }

  // The same with nothing but the copy.
  double TimeCopy(std::uint64_t messages) {
    Control& control = setup_.control();
    return Time(Work::kCopy, messages, [&] {
      for (std::uint64_t i = 0; i < messages; ++i) {
        SpinUntil([&] { return copies_ - control.consumed.load(std::memory_order_acquire) < setup_.credits(); });
        std::memcpy(setup_.CopySlot(copies_), source_.data(), setup_.slot_bytes());
        control.copied.store(++copies_, std::memory_order_release);
      }
    });
  }

  // Seconds for `messages` full slots there and back, one at a time.
  double TimeEcho(std::uint64_t messages) {
    return Time(Work::kEcho, messages, [&] {
      for (std::uint64_t i = 0; i < messages; ++i) {
        Send(*mesh_, kConsumer);
        Receive(*mesh_, kConsumer);
        mesh_->receiver(kConsumer).Release();
      }
    });
  }

 private:
  template <typename Produce>
  double Time(Work work, std::uint64_t messages, const Produce& produce) {
    const auto start = std::chrono::steady_clock::now();
    Begin(work, messages);
    produce();
    Await();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void Begin(Work work, std::uint64_t messages) {
    setup_.control().work = work;
    setup_.control().messages = messages;
    setup_.control().round.store(++round_, std::memory_order_release);
  }
  void Await() {
    SpinUntil([this] { return setup_.control().finished.load(std::memory_order_acquire) == round_; });
  }

  const Setup& setup_;
  PageRegion source_;
  std::unique_ptr<ExecutorMesh> mesh_;
  std::uint64_t round_ = 0;
  std::uint64_t copies_ = 0;
};

Setup MakeSetup(TransportKind kind, std::uint32_t slot_bytes, std::uint32_t credits) {
  const bool shared = kind == TransportKind::kShm;
  Setup setup;
  setup.options.executors_per_node = shared ? 1 : 2;
  setup.options.executor_count = 2;
  setup.options.channel.slot_bytes = slot_bytes;
  setup.options.channel.credits = credits;
  setup.options.run_token = 1;
  setup.control_memory = OrDie(PageRegion::MapShared(sizeof(Control)));
  const std::size_t ring_bytes = setup.options.channel.ring_bytes();
  setup.copy_ring = OrDie(shared ? PageRegion::MapShared(ring_bytes) : PageRegion::Map(ring_bytes));
  return setup;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Throughput(benchmark::State& state, TransportKind kind) {
  const Setup setup =
      MakeSetup(kind, static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)));
  const ConsumerTask consumer(setup, kind == TransportKind::kShm);
  Producer producer(setup);
  const std::uint64_t messages = kRoundBytes / setup.slot_bytes();
  const double channel_bytes = static_cast<double>(messages) * (setup.slot_bytes() - SegmentPool::kFooterBytes);
  const double copy_bytes = static_cast<double>(messages) * setup.slot_bytes();
  producer.TimeChannel(messages);  // touches every page once
  producer.TimeCopy(messages);
  std::vector<double> channel_speeds;
  std::vector<double> copy_speeds;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double channel_seconds = producer.TimeChannel(messages);
    const double copy_seconds = producer.TimeCopy(messages);
    state.SetIterationTime(channel_seconds);
    channel_speeds.push_back(channel_bytes / channel_seconds / 1e9);
    copy_speeds.push_back(copy_bytes / copy_seconds / 1e9);
    ratios.push_back(channel_speeds.back() / copy_speeds.back());
  }
  state.counters["channel_GBps"] = Median(channel_speeds);
  state.counters["copy_GBps"] = Median(copy_speeds);
  state.counters["ratio"] = Median(ratios);
}

void Latency(benchmark::State& state, TransportKind kind) {
  const Setup setup = MakeSetup(kind, static_cast<std::uint32_t>(state.range(0)), 8);
  const ConsumerTask consumer(setup, kind == TransportKind::kShm);
  Producer producer(setup);
  constexpr std::uint64_t kMessages = 100;
  producer.TimeEcho(kMessages);
  for (auto _ : state) state.SetIterationTime(producer.TimeEcho(kMessages) / (2 * kMessages));
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t slot_bytes : {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}) {
    benchmark->Args({slot_bytes, 8});
  }
  for (const std::int64_t credits : {2, 4, 16, 64}) benchmark->Args({64 << 10, credits});
  benchmark->ArgNames({"slot", "credits"})->UseManualTime()->Unit(benchmark::kMillisecond);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(4 << 10, 4 << 20)->ArgName("slot");
  benchmark->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(Throughput, shm, TransportKind::kShm)->Apply(Shapes);
BENCHMARK_CAPTURE(Throughput, local, TransportKind::kLocal)->Apply(Shapes);
BENCHMARK_CAPTURE(Latency, shm, TransportKind::kShm)->Apply(Sizes);
BENCHMARK_CAPTURE(Latency, local, TransportKind::kLocal)->Apply(Sizes);

}  // namespace
}  // namespace glaive::rdma
