// Whether the RDMA device at hand places one WRITE in address order, as channels rely on (they poll the last byte).
//
//   build/release/bin/write_order --device=mlx5_0 --seconds=10
//   build/release/bin/write_order --device=mlx5_0 --write-mode=split
//   build/release/bin/write_order --self-test
//
// A writer, a process of its own, sends messages of several sizes over one connection, up to eight at once, every byte
// of a message being the number of its lap. The reader polls the last byte and at once looks at every cache line of the
// message. A line that is late means that the device needs --write-mode=split; --write-mode=split checks that this
// helps. --self-test needs no device: the writer copies backwards in shared memory, and the check must find that.
//
// Finding nothing is no proof: run it for long, and under load. Exit code 0: nothing was late; 1: something was, or the
// self-test found nothing; 2: wrong flags; 3: no device, or it failed, or standard output cannot be written.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "bench/common/fork.h"
#include "bench/common/or_die.h"
#include "bench/write_order/order_check.h"
#include "engine/cluster/standard_streams.h"
#include "engine/flags/tool_flags.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/ids.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/transport.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {
namespace {

using rdma::ExposedRegion;
using rdma::RegionDescriptor;
using rdma::Transport;
using rdma::TransportKind;
using rdma::WriteMode;

constexpr int kFailed = 3;  // as an exit code; 1 is a verdict

constexpr std::array<std::uint32_t, 8> kSizes = {128, 1024, 4096, 4160, 16384, 65536, 262144, 1048576};

struct Settings {
  rdma::DeviceChoice device;
  std::string write_mode = "whole";
  double seconds = 5;
  bool self_test = false;
};

// What one side tells the other before the first write.
struct Side {
  std::atomic<bool> ready;
  std::array<char, 128> endpoint;
  RegionDescriptor region;
};

// Shared by both processes. What is polled has a cache line of its own.
struct Shared {
  alignas(64) Side writer;
  alignas(64) Side reader;
  alignas(64) std::atomic<std::uint64_t> size_index;  // the size to write, from 1; 0: none yet
  alignas(64) std::atomic<bool> stop;                 // enough of this size
  alignas(64) std::atomic<std::uint64_t> written;     // of this size, once the writer has stopped
  alignas(64) std::atomic<std::uint64_t> stopped;     // = size_index then
  alignas(64) std::atomic<std::uint64_t> checked;     // of this size
};

template <typename T>
T OrFail(absl::StatusOr<T> value) {
  return OrDie(std::move(value), kFailed);
}

template <typename Condition>
void SpinUntil(const Condition& condition) {
  for (int attempts = 0; !condition(); ++attempts) {
    if (attempts > 8) std::this_thread::yield();
  }
}

// One side's way to the other: a connection over verbs, or for the self-test none.
class Link {
 public:
  Link(const Settings& settings, std::uint32_t node, Side& here, const Side& there, std::byte* self_test_ring) {
    if (settings.self_test) {
      remote_ = {.address = reinterpret_cast<std::uint64_t>(self_test_ring), .size_bytes = kSizes.back() * kOrderSlots};
      ring_ = {self_test_ring, remote_.size_bytes};
      queue_pair_ = &backwards_;
      return;
    }
    if (node == 1) SpinUntil([&] { return there.ready.load(std::memory_order_acquire); });  // one complaint is enough
    const WriteMode mode = settings.write_mode == "split" ? WriteMode::kSplit : WriteMode::kWhole;
    transport_ = OrFail(
        rdma::MakeTransport(TransportKind::kVerbs, {.node = NodeId{node},
                                                    .queue_depth = 4 * kOrderSlots,
                                                    .run_token = 1,
                                                    .write_mode = mode,
                                                    .device = OrFail(rdma::VerbsDevice::Open(settings.device))}));
    const ExposedRegion exposed = OrFail(transport_->Expose(kSizes.back() * kOrderSlots));
    ring_ = exposed.memory;
    here.region = exposed.descriptor;
    std::strncpy(here.endpoint.data(), transport_->endpoint().address.c_str(), here.endpoint.size() - 1);
    here.ready.store(true, std::memory_order_release);
    SpinUntil([&] { return there.ready.load(std::memory_order_acquire); });
    remote_ = OrFail(transport_->Attach(there.region));
    queue_pair_ = OrFail(transport_->Connect(NodeId{1 - node}, {.address = there.endpoint.data()}));
    SpinUntil([&] { return !OrFail(transport_->PollConnecting()).has_value(); });
  }

  std::span<std::byte> ring() const { return ring_; }

  rdma::LocalKey Register(std::span<std::byte> memory) {
    return transport_ == nullptr ? rdma::LocalKey{} : OrFail(transport_->Register(memory));
  }

  // Writes to the other's ring as soon as that is possible.
  void Write(const std::byte* local, std::uint32_t length, rdma::LocalKey key, std::uint64_t offset) {
    SpinUntil([&] {
      Poll();
      return queue_pair_->TryPostWrite(
          {.local = local, .length = length, .local_key = key, .remote = remote_, .remote_offset = offset});
    });
    if (transport_ != nullptr) transport_->Flush();
  }

  void Poll() {
    if (transport_ == nullptr) return;
    std::array<rdma::Completion, 32> completions;
    for (std::size_t i = 0, count = transport_->PollCompletions(completions); i < count; ++i) {
      if (completions[i].status != rdma::WriteStatus::kDone) {
        OrDie(absl::UnavailableError(std::string("a write failed: ") + Name(completions[i].status)), kFailed);
      }
    }
  }

 private:
  std::unique_ptr<Transport> transport_;
  BackwardsQueuePair backwards_;
  rdma::QueuePair* queue_pair_ = nullptr;
  rdma::RemoteRegion remote_;
  std::span<std::byte> ring_;
};

// The writer's process. A message may go into a slot when the one before was looked at.
void Write(const Settings& settings, Shared& shared, std::byte* self_test_ring) {
  rdma::PageRegion source = OrFail(rdma::PageRegion::Map(kSizes.back() * kOrderSlots));
  Link link(settings, 1, shared.writer, shared.reader, self_test_ring);
  const rdma::LocalKey key = link.Register(source.bytes());
  for (std::uint64_t index = 1; index <= kSizes.size(); ++index) {
    SpinUntil([&] { return shared.size_index.load(std::memory_order_acquire) == index; });
    const std::uint32_t size = kSizes[index - 1];
    std::uint64_t number = 0;
    for (; !shared.stop.load(std::memory_order_acquire); ++number) {
      SpinUntil([&] {
        link.Poll();
        return number < shared.checked.load(std::memory_order_acquire) + kOrderSlots;
      });
      const std::uint64_t offset = number % kOrderSlots * size;
      std::memset(source.data() + offset, LapOfMessage(number), size);
      link.Write(source.data() + offset, size, key, offset);
    }
    shared.written.store(number, std::memory_order_release);
    shared.stopped.store(index, std::memory_order_release);
  }
  // The connection stays up until the reader has seen the last message.
  SpinUntil([&] {
    link.Poll();
    return shared.size_index.load(std::memory_order_acquire) > kSizes.size();
  });
}

struct Result {
  std::uint64_t messages = 0;
  std::uint64_t too_early = 0;
  OrderFault worst;
};

Result Read(std::uint64_t index, std::span<std::byte> ring, double seconds, Shared& shared) {
  const std::uint32_t size = kSizes[index - 1];
  Result result;
  std::memset(ring.data(), 0, std::size_t{size} * kOrderSlots);
  shared.checked.store(0, std::memory_order_relaxed);
  shared.stop.store(false, std::memory_order_relaxed);
  shared.size_index.store(index, std::memory_order_release);
  const auto start = std::chrono::steady_clock::now();
  const auto all_read = [&] {
    return shared.stopped.load(std::memory_order_acquire) == index &&
           shared.written.load(std::memory_order_acquire) == result.messages;
  };
  while (!all_read()) {
    const auto message = std::span<const std::byte>(ring).subspan(result.messages % kOrderSlots * size, size);
    const std::uint8_t lap = LapOfMessage(result.messages);
    SpinUntil([&] { return HasArrived(message, lap) || all_read(); });
    if (!HasArrived(message, lap)) break;
    const OrderFault fault = CheckMessage(message, lap);
    if (fault.late_lines > 0) {
      ++result.too_early;
      // Once it is complete the slot may be written again, or the next lap would be taken for this one.
      SpinUntil([&] { return CheckMessage(message, lap).late_lines == 0; });
    }
    result.worst.late_lines = std::max(result.worst.late_lines, fault.late_lines);
    result.worst.farthest_bytes = std::max(result.worst.farthest_bytes, fault.farthest_bytes);
    shared.checked.store(++result.messages, std::memory_order_release);
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) {
      shared.stop.store(true, std::memory_order_release);
    }
  }
  return result;
}

// Whether the writer may end.
volatile std::sig_atomic_t writer_may_end = 0;

// Without a writer nothing would ever come; it has said why it ended.
void OnWriterEnd(int /*signal*/) {
  if (writer_may_end == 0) _exit(kFailed);
}

// What was found, and the exit code.
int Report(const Settings& settings, const Result& total) {
  if (settings.self_test) {
    std::cout << (total.too_early > 0 ? "self-test passed: a writer that writes backwards was found out\n"
                                      : "self-test FAILED: a writer that writes backwards was not found out\n");
    return total.too_early > 0 ? 0 : 1;
  }
  if (total.too_early == 0) {
    std::cout << "no message was seen before it was complete, write mode " << settings.write_mode << "\n";
    return 0;
  }
  std::cout << "this device does not place writes in order"
            << (settings.write_mode == "split" ? ", not even with --write-mode=split: do not use it\n"
                                               : ": run with --write-mode=split\n");
  return 1;
}

int Check(const Settings& settings) {
  const rdma::PageRegion memory = OrFail(rdma::PageRegion::MapShared(sizeof(Shared)));
  const rdma::PageRegion ring = OrFail(rdma::PageRegion::MapShared(kSizes.back() * kOrderSlots));
  Shared& shared = *new (memory.data()) Shared();
  std::signal(SIGCHLD, OnWriterEnd);
  const pid_t writer = OrFail(ForkWithParent());
  if (writer == 0) {
    Write(settings, shared, ring.data());
    _exit(0);
  }
  Link link(settings, 0, shared.reader, shared.writer, ring.data());
  Result total;
  std::cout << absl::StrFormat("%10s %12s %12s %16s %20s\n", "bytes", "messages", "too early", "late lines, max",
                               "bytes behind, max");
  for (std::uint64_t index = 1; index <= kSizes.size(); ++index) {
    const Result result = Read(index, link.ring(), settings.seconds / kSizes.size(), shared);
    std::cout << absl::StrFormat("%10u %12u %12u %16u %20u\n", kSizes[index - 1], result.messages, result.too_early,
                                 result.worst.late_lines, result.worst.farthest_bytes);
    total.messages += result.messages;
    total.too_early += result.too_early;
  }
  std::cout << absl::StrFormat("%10s %12u %12u\n", "all", total.messages, total.too_early);
  writer_may_end = 1;
  shared.size_index.store(kSizes.size() + 1, std::memory_order_release);
  waitpid(writer, nullptr, 0);
  return Report(settings, total);
}

int Main(int argc, char** argv) {
  Settings settings;
  const char* const device = std::getenv("GLAIVE_TEST_DEVICE");
  if (device != nullptr) settings.device.device = device;
  CLI::App flags("Whether an RDMA device places a WRITE in address order");
  flags.add_option("--device", settings.device.device, "default: GLAIVE_TEST_DEVICE, else the first");
  flags.add_option("--bind", settings.device.address, "the device's address");
  flags.add_option("--write-mode", settings.write_mode, "whole or split")->check(CLI::IsMember({"whole", "split"}));
  flags.add_option("--seconds", settings.seconds, "for all sizes together")->check(CLI::Range(1e-3, 1e6));
  flags.add_flag("--self-test", settings.self_test, "without a device, a writer that writes backwards");
  if (const std::optional<int> exit_code = engine::ParseToolFlags(flags, "write_order", argc, argv)) {
    return engine::ExitCodeAfterOutput("write_order", *exit_code, kFailed);
  }
  if (std::isnan(settings.seconds)) {  // CLI::Range accepts NaN
    std::cerr << "write_order: --seconds: not a number; see --help\n";
    return 2;
  }
  return engine::ExitCodeAfterOutput("write_order", Check(settings), kFailed);
}

}  // namespace
}  // namespace glaive::bench

// NOLINTNEXTLINE(bugprone-exception-escape): a benchmark may end with what its libraries throw
int main(int argc, char** argv) {
  return glaive::RunMain([&] { return glaive::bench::Main(argc, argv); }, glaive::bench::kFailed);
}
