// What a channel costs: throughput by slot size, credits and number of channels, and the latency of a single slot.
//
// Each case runs a producer here and a consumer that reads every byte: in a second process over `shm` and `verbs`, in a
// second thread over `local`. Over shm and local, rounds of the channel alternate with rounds of the least that could
// be done instead: one plain memcpy of the same size from one warm buffer into a ring of the same shape and the same
// kind of memory, announced by one counter and given back by another. `ratio` is the median over the rounds of
// channel / plain copy, in payload bytes per second. What stands beside verbs is ib_write_bw on the same device:
// scripts/channel_figures runs both in turns. The latency cases send a slot there and back; the time is half of
// that, and the consumer does not read the payload.
//
//   build/release/bin/channel --benchmark_filter='Throughput/shm.*slot:65536'
//   build/release/bin/channel --transport=verbs --device=rxe0 --slots=65536 --credits=8 --channels=1,2,4
//
// Over verbs the device is --device, else $GLAIVE_TEST_DEVICE, or that of the address --bind; by default the first.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"

#include "bench/channel/channel_case.h"
#include "bench/channel/consumer_task.h"
#include "bench/channel/producer.h"
#include "bench/common/benchmark_main.h"
#include "bench/common/fork.h"
#include "bench/common/or_die.h"
#include "engine/cluster/standard_streams.h"
#include "engine/flags/tool_flags.h"
#include "rdma/base/exhaustion.h"
#include "rdma/memory/page_region.h"
#include "rdma/memory/segment_pool.h"

namespace glaive::bench {
namespace {

using rdma::TransportKind;

constexpr std::uint64_t kRoundBytes = std::uint64_t{64} << 20;

// The flags that are not Google Benchmark's.
struct Settings {
  std::string transport;  // empty: all
  rdma::DeviceChoice device;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> credits;
  std::vector<std::uint32_t> channels;
  std::uint32_t segments = 0;  // 0: 8; over verbs as many as credits
  std::uint32_t signal_interval = 0;
  bool read_payload = true;
};

// Takes our flags out of the command line; what is left is Google Benchmark's.
Settings ParseSettings(int& argc, char** argv) {
  Settings settings;
  const char* const device = std::getenv("GLAIVE_TEST_DEVICE");
  if (device != nullptr) settings.device.device = device;
  CLI::App flags("What a channel costs; further flags are those of Google Benchmark");
  flags.allow_extras();
  flags.add_option("--transport", settings.transport, "shm, local or verbs alone")
      ->check(CLI::IsMember({"shm", "local", "verbs"}));
  flags.add_option("--device", settings.device.device, "the RDMA device");
  flags.add_option("--bind", settings.device.address, "the RDMA device's address");
  flags.add_option("--slots", settings.slots, "slot sizes in bytes, with commas")->delimiter(',');
  flags.add_option("--credits", settings.credits, "with commas")->delimiter(',');
  flags.add_option("--channels", settings.channels, "how many, with commas")
      ->delimiter(',')
      ->check(CLI::Range(std::uint32_t{1}, kMaxChannels));
  flags.add_option("--segments", settings.segments, "a channel's; 0: 8, or over verbs as many as credits");
  flags.add_option("--signal-interval", settings.signal_interval, "messages; 0: as suits the transport");
  flags.add_flag("!--no-read", settings.read_payload, "the consumer leaves the payload alone");
  if (const std::optional<int> exit_code = engine::ParseToolFlags(flags, "channel", argc, argv)) {
    std::exit(engine::ExitCodeAfterOutput("channel", *exit_code, 1));
  }
  // Google Benchmark takes its flags out of argv, so the pointers must live on.
  static std::vector<std::string> rest;
  rest = flags.remaining();
  argc = 1;
  for (std::string& argument : rest) argv[argc++] = argument.data();
  return settings;
}

// What all cases use: they run one after the other.
struct Bench {
  Settings settings;
  Control* control = nullptr;
  const ConsumerHost* host = nullptr;
};

ChannelSetup MakeSetup(const Bench& bench, const ChannelCase& shape) {
  ChannelSetup setup{.shape = shape, .device = bench.settings.device, .control = bench.control, .copy_ring = {}};
  new (bench.control) Control();  // of an earlier case nothing remains
  const std::size_t ring_bytes = std::size_t{shape.slot_bytes} * shape.credits;
  if (shape.kind == TransportKind::kShm) setup.copy_ring = OrDie(rdma::PageRegion::MapShared(ring_bytes));
  if (shape.kind == TransportKind::kLocal) setup.copy_ring = OrDie(rdma::PageRegion::Map(ring_bytes));
  return setup;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Throughput(benchmark::State& state, const Bench& bench, const ChannelCase& shape) {
  const ChannelSetup setup = MakeSetup(bench, shape);
  const ConsumerTask consumer(*bench.host, setup);
  Producer producer(setup);
  const bool compare = shape.kind != TransportKind::kVerbs && shape.channels == 1;
  const std::uint64_t messages = std::max<std::uint64_t>(kRoundBytes / shape.slot_bytes, shape.channels);
  const double channel_bytes = static_cast<double>(messages) * (shape.slot_bytes - rdma::SegmentPool::kFooterBytes);
  const double copy_bytes = static_cast<double>(messages) * shape.slot_bytes;
  producer.TimeChannel(messages);  // touches every page once
  if (compare) producer.TimeCopy(messages);
  std::vector<double> channel_speeds;
  std::vector<double> copy_speeds;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double channel_seconds = producer.TimeChannel(messages);
    state.SetIterationTime(channel_seconds);
    channel_speeds.push_back(channel_bytes / channel_seconds);
    if (!compare) continue;
    copy_speeds.push_back(copy_bytes / producer.TimeCopy(messages));
    ratios.push_back(channel_speeds.back() / copy_speeds.back());
  }
  state.counters["channel_B/s"] = Median(channel_speeds);
  if (!compare) return;
  state.counters["copy_B/s"] = Median(copy_speeds);
  state.counters["ratio"] = Median(ratios);
}

void Latency(benchmark::State& state, const Bench& bench, const ChannelCase& shape) {
  const ChannelSetup setup = MakeSetup(bench, shape);
  const ConsumerTask consumer(*bench.host, setup);
  Producer producer(setup);
  constexpr std::uint64_t kMessages = 100;
  producer.TimeEcho(kMessages);
  for (auto _ : state) state.SetIterationTime(producer.TimeEcho(kMessages) / (2 * kMessages));
}

struct Shape {
  std::uint32_t slot_bytes;
  std::uint32_t credits;
  std::uint32_t channels;
};

// One axis at a time from the middle; with --slots, --credits or --channels every combination of them.
std::vector<Shape> Shapes(const Settings& settings) {
  std::vector<Shape> shapes;
  if (settings.slots.empty() && settings.credits.empty() && settings.channels.empty()) {
    for (const std::uint32_t slot : {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}) {
      shapes.push_back({slot, 8, 1});
    }
    for (const std::uint32_t credits : {2, 4, 16, 64}) shapes.push_back({64 << 10, credits, 1});
    for (const std::uint32_t channels : {2, 4}) shapes.push_back({64 << 10, 8, channels});
    return shapes;
  }
  const auto or_default = [](const std::vector<std::uint32_t>& values, std::uint32_t value) {
    return values.empty() ? std::vector<std::uint32_t>{value} : values;
  };
  for (const std::uint32_t slot : or_default(settings.slots, 64 << 10)) {
    for (const std::uint32_t credits : or_default(settings.credits, 8)) {
      for (const std::uint32_t channels : or_default(settings.channels, 1)) {
        shapes.push_back({slot, credits, channels});
      }
    }
  }
  return shapes;
}

void Register(const Bench& bench, TransportKind kind) {
  const Settings& settings = bench.settings;
  const std::string name = rdma::Name(kind);
  std::vector<std::uint32_t> latency_slots = settings.slots;
  if (latency_slots.empty()) latency_slots = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  const auto make_case = [&](const Shape& shape) {
    const std::uint32_t segments = kind == TransportKind::kVerbs ? shape.credits : 8;
    return ChannelCase{.kind = kind,
                       .slot_bytes = shape.slot_bytes,
                       .credits = shape.credits,
                       .channels = shape.channels,
                       .segments = settings.segments == 0 ? segments : settings.segments,
                       .signal_interval = settings.signal_interval,
                       .read_payload = settings.read_payload};
  };
  for (const Shape& shape : Shapes(settings)) {
    const ChannelCase channel_case = make_case(shape);
    benchmark::RegisterBenchmark(
        absl::StrCat("Throughput/", name, "/slot:", shape.slot_bytes, "/credits:", shape.credits,
                     "/channels:", shape.channels)
            .c_str(),
        [&bench, channel_case](benchmark::State& state) { Throughput(state, bench, channel_case); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const std::uint32_t slot : latency_slots) {
    const ChannelCase channel_case = make_case({slot, 8, 1});
    benchmark::RegisterBenchmark(
        absl::StrCat("Latency/", name, "/slot:", slot).c_str(),
        [&bench, channel_case](benchmark::State& state) { Latency(state, bench, channel_case); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

// Whether verbs cases can run. Asked in a child: see ConsumerHost.
bool DeviceOpens(const rdma::DeviceChoice& choice) {
  const pid_t pid = OrDie(ForkWithParent());
  if (pid == 0) {
    const auto device = rdma::VerbsDevice::Open(choice);
    if (device.ok()) {
      std::cerr << "verbs: " << (*device)->info().Describe() << "\n";
    } else {
      std::cerr << "no cases over verbs: " << device.status().message() << "\n";
    }
    _exit(device.ok() ? 0 : 1);
  }
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int Main(int argc, char** argv) {
  Bench bench{.settings = ParseSettings(argc, argv)};
  const std::string& wanted = bench.settings.transport;
  const rdma::PageRegion memory = OrDie(rdma::PageRegion::MapShared(sizeof(Control)));
  bench.control = new (memory.data()) Control();
  const ConsumerHost host(bench.settings.device, bench.control);
  bench.host = &host;
  bool any = false;
  for (const TransportKind kind : {TransportKind::kShm, TransportKind::kLocal, TransportKind::kVerbs}) {
    if (!wanted.empty() && wanted != rdma::Name(kind)) continue;
    if (kind == TransportKind::kVerbs && !DeviceOpens(bench.settings.device)) continue;
    Register(bench, kind);
    any = true;
  }
  if (!any) {
    std::cerr << "--transport=" << wanted << ": there is nothing to run\n";
    return 1;
  }
  return RunBenchmarks(argc, argv);
}

}  // namespace
}  // namespace glaive::bench

// NOLINTNEXTLINE(bugprone-exception-escape): a benchmark may end with what its libraries throw
int main(int argc, char** argv) {
  return glaive::RunMain([&] { return glaive::bench::Main(argc, argv); });
}
