// What a channel costs: throughput by slot size, credits and number of channels, and the latency of a single slot.
//
// Over shm and local a case runs a producer here and a consumer that reads every byte, in a second process or thread.
// Rounds of the channel alternate with rounds of the least that could be done instead: one plain memcpy of the same
// size from one warm buffer into a ring of the same shape and the same kind of memory, announced by one counter and
// given back by another. `ratio` is the median over the rounds of channel / plain copy, in payload bytes per second.
//
// Over verbs one end receives and reports, and --incast=N others send to it: processes of this host, or with --listen
// and --connect processes of any hosts. The throughput is that of all senders together, until the slowest has its
// credits back. What the devices of both ends counted of trouble meanwhile stands beside it (bench/common/
// device_counters.h). What stands beside verbs is ib_write_bw on the same device: scripts/channel_figures runs both in
// turns. The latency cases send a slot there and back; the time is half of that, and the consumer does not read the
// payload.
//
//   build/release/bin/channel --benchmark_filter='Throughput/shm.*slot:65536'
//   build/release/bin/channel --transport=verbs --device=rxe0 --slots=65536 --credits=8 --channels=1,2,4
//   build/release/bin/channel --listen=10.0.0.1:7700 --secret-file=run.secret      # on the first host
//   build/release/bin/channel --connect=10.0.0.1:7700 --secret-file=run.secret     # on the second
//
// Over verbs the device is --device, else $GLAIVE_TEST_DEVICE, or that of the address --bind; by default the first.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"

#include "bench/channel/channel_case.h"
#include "bench/channel/consumer_task.h"
#include "bench/channel/copy_case.h"
#include "bench/channel/fabric_case.h"
#include "bench/channel/producer.h"
#include "bench/common/benchmark_main.h"
#include "bench/common/device_counters.h"
#include "bench/common/fork.h"
#include "bench/common/meeting.h"
#include "bench/common/or_die.h"
#include "bench/common/ordering.h"
#include "engine/cluster/standard_streams.h"
#include "engine/flags/tool_flags.h"
#include "rdma/base/exhaustion.h"
#include "rdma/memory/page_region.h"
#include "rdma/memory/segment_pool.h"

namespace glaive::bench {
namespace {

using rdma::TransportKind;

constexpr std::uint64_t kRoundBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kEchoes = 100;
constexpr std::uint32_t kMaxInlineBytes = 65536;  // devices have some hundred
constexpr absl::Duration kLeaveGrace = absl::Seconds(5);

// The flags that are not Google Benchmark's.
struct Settings {
  std::string transport;  // empty: all
  std::string arrival;    // over verbs; empty: both
  std::string relaxed_ordering = "auto";
  rdma::DeviceChoice device;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> credits;
  std::vector<std::uint32_t> channels;
  std::uint32_t segments = 0;  // 0: 8; over verbs as many as credits
  std::uint32_t signal_interval = 0;
  std::uint32_t inline_bytes = 0;
  bool read_payload = true;
  MeetingFlags ends;  // over verbs
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
  flags.add_option("--arrival", settings.arrival, "over verbs: imm or poll; none: both")
      ->check(CLI::IsMember({"imm", "poll"}));
  AddOrderingFlag(flags, settings.relaxed_ordering);
  flags.add_option("--device", settings.device.device, "the RDMA device");
  flags.add_option("--bind", settings.device.address, "the RDMA device's address");
  flags.add_option("--slots", settings.slots, "slot sizes in bytes, with commas")->delimiter(',');
  flags.add_option("--credits", settings.credits, "with commas")->delimiter(',');
  flags.add_option("--channels", settings.channels, "how many, with commas")
      ->delimiter(',')
      ->check(CLI::Range(std::uint32_t{1}, kMaxChannels));
  flags.add_option("--segments", settings.segments, "a channel's; 0: 8, or over verbs as many as credits");
  flags.add_option("--signal-interval", settings.signal_interval, "messages; 0: as suits the transport");
  flags
      .add_option("--inline", settings.inline_bytes,
                  "over verbs: messages of up to so many bytes travel in the work request; the device has a limit")
      ->check(CLI::Range(std::uint32_t{0}, kMaxInlineBytes));
  flags.add_flag("!--no-read", settings.read_payload, "the consumer leaves the payload alone");
  AddMeetingFlags(flags, settings.ends);
  if (const std::optional<int> exit_code = engine::ParseToolFlags(flags, "channel", argc, argv)) {
    std::exit(engine::ExitCodeAfterOutput("channel", *exit_code, 1));
  }
  const bool is_copy = settings.transport == "shm" || settings.transport == "local";
  if (is_copy && (settings.ends.by_hand() || settings.ends.senders > 1)) {
    std::cerr << "channel: --transport=" << settings.transport
              << " has neither --listen and --connect nor --incast; see --help\n";
    std::exit(2);
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
  rdma::ControlPlane* plane = nullptr;    // over verbs
  std::vector<ChannelCase> fabric_cases;  // the same at all ends
};

CopySetup MakeSetup(const Bench& bench, const ChannelCase& shape) {
  CopySetup setup{.shape = shape, .control = bench.control, .copy_ring = {}};
  new (bench.control) Control();  // of an earlier case nothing remains
  const std::size_t ring_bytes = std::size_t{shape.slot_bytes} * shape.credits;
  setup.copy_ring = OrDie(shape.kind == TransportKind::kShm ? rdma::PageRegion::MapShared(ring_bytes)
                                                            : rdma::PageRegion::Map(ring_bytes));
  return setup;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Messages of a round, of one sender.
std::uint64_t RoundMessages(const ChannelCase& shape) {
  return std::max<std::uint64_t>(kRoundBytes / shape.slot_bytes / shape.senders, shape.channels);
}

double PayloadBytes(const ChannelCase& shape, std::uint64_t messages) {
  return static_cast<double>(messages) * (shape.slot_bytes - rdma::SegmentPool::kFooterBytes);
}

void CopyThroughput(benchmark::State& state, const Bench& bench, const ChannelCase& shape) {
  const CopySetup setup = MakeSetup(bench, shape);
  const ConsumerTask consumer(setup);
  Producer producer(setup);
  const bool compare = shape.channels == 1;
  const std::uint64_t messages = RoundMessages(shape);
  const double copy_bytes = static_cast<double>(messages) * shape.slot_bytes;
  producer.TimeChannel(messages);  // touches every page once
  if (compare) producer.TimeCopy(messages);
  std::vector<double> channel_speeds;
  std::vector<double> copy_speeds;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double channel_seconds = producer.TimeChannel(messages);
    state.SetIterationTime(channel_seconds);
    channel_speeds.push_back(PayloadBytes(shape, messages) / channel_seconds);
    if (!compare) continue;
    copy_speeds.push_back(copy_bytes / producer.TimeCopy(messages));
    ratios.push_back(channel_speeds.back() / copy_speeds.back());
  }
  state.counters["channel_B/s"] = Median(channel_speeds);
  if (!compare) return;
  state.counters["copy_B/s"] = Median(copy_speeds);
  state.counters["ratio"] = Median(ratios);
}

void CopyLatency(benchmark::State& state, const Bench& bench, const ChannelCase& shape) {
  const CopySetup setup = MakeSetup(bench, shape);
  const ConsumerTask consumer(setup);
  Producer producer(setup);
  producer.TimeEcho(kEchoes);
  for (auto _ : state) state.SetIterationTime(producer.TimeEcho(kEchoes) / (2 * kEchoes));
}

void Report(benchmark::State& state, const DeviceCounters& counters) {
  for (const auto& [name, count] : counters) state.counters[name] = static_cast<double>(count);
}

void FabricThroughput(benchmark::State& state, const Bench& bench, std::size_t index) {
  const ChannelCase& shape = bench.fabric_cases[index];
  FabricCase fabric(*bench.plane, bench.settings.device, bench.fabric_cases, index);
  const std::uint64_t messages = RoundMessages(shape);
  fabric.Time(Step::kSend, messages);  // touches every page once
  fabric.CountersSince();
  std::vector<double> speeds;
  for (auto _ : state) {
    const double seconds = fabric.Time(Step::kSend, messages);
    state.SetIterationTime(seconds);
    speeds.push_back(PayloadBytes(shape, messages * shape.senders) / seconds);
  }
  state.counters["channel_B/s"] = Median(speeds);
  Report(state, fabric.CountersSince());
}

void FabricLatency(benchmark::State& state, const Bench& bench, std::size_t index) {
  FabricCase fabric(*bench.plane, bench.settings.device, bench.fabric_cases, index);
  fabric.Time(Step::kEcho, kEchoes);
  fabric.CountersSince();
  for (auto _ : state) state.SetIterationTime(fabric.Time(Step::kEcho, kEchoes) / (2 * kEchoes));
  Report(state, fabric.CountersSince());
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

// Has Google Benchmark run a case, and over verbs all ends know it.
void RegisterCase(Bench& bench, const std::string& name, const ChannelCase& shape, bool is_latency) {
  const auto run = [&]() -> std::function<void(benchmark::State&)> {
    if (shape.kind != TransportKind::kVerbs) {
      return [&bench, shape, is_latency](benchmark::State& state) {
        is_latency ? CopyLatency(state, bench, shape) : CopyThroughput(state, bench, shape);
      };
    }
    bench.fabric_cases.push_back(shape);
    return [&bench, index = bench.fabric_cases.size() - 1, is_latency](benchmark::State& state) {
      is_latency ? FabricLatency(state, bench, index) : FabricThroughput(state, bench, index);
    };
  };
  benchmark::RegisterBenchmark(name.c_str(), run())
      ->UseManualTime()
      ->Unit(is_latency ? benchmark::kMicrosecond : benchmark::kMillisecond);
}

void Register(Bench& bench, TransportKind kind, rdma::Arrival arrival) {
  const Settings& settings = bench.settings;
  const bool is_fabric = kind == TransportKind::kVerbs;
  const std::string name = absl::StrCat(rdma::Name(kind), is_fabric ? absl::StrCat("/", rdma::Name(arrival)) : "");
  std::vector<std::uint32_t> latency_slots = settings.slots;
  if (latency_slots.empty()) latency_slots = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  const auto make_case = [&](const Shape& shape) {
    const std::uint32_t segments = is_fabric ? shape.credits : 8;
    return ChannelCase{.kind = kind,
                       .slot_bytes = shape.slot_bytes,
                       .credits = shape.credits,
                       .channels = shape.channels,
                       .senders = is_fabric ? settings.ends.senders : 1,
                       .segments = settings.segments == 0 ? segments : settings.segments,
                       .signal_interval = settings.signal_interval,
                       .arrival = arrival,
                       .relaxed_ordering = settings.relaxed_ordering,
                       .inline_bytes = settings.inline_bytes,
                       .read_payload = settings.read_payload};
  };
  for (const Shape& shape : Shapes(settings)) {
    RegisterCase(bench,
                 absl::StrCat("Throughput/", name, "/slot:", shape.slot_bytes, "/credits:", shape.credits,
                              "/channels:", shape.channels),
                 make_case(shape), /*is_latency=*/false);
  }
  for (const std::uint32_t slot : latency_slots) {
    RegisterCase(bench, absl::StrCat("Latency/", name, "/slot:", slot), make_case({slot, 8, 1}), /*is_latency=*/true);
  }
}

enum DeviceState { kNoDevice = 1, kPollOnly = 2, kBothArrivals = 3 };

// How messages can arrive over verbs. Asked in a child: see ConsumerHost.
DeviceState LookUpDevice(const Settings& settings) {
  const pid_t pid = OrDie(ForkWithParent());
  if (pid == 0) {
    const auto device = rdma::VerbsDevice::Open(settings.device);
    if (!device.ok()) {
      std::cerr << "no cases over verbs: " << device.status().message() << "\n";
      _exit(kNoDevice);
    }
    std::cerr << "verbs: " << DescribeOrdering(settings.relaxed_ordering, (*device)->info()) << "\n";
    _exit((*device)->info().has_immediates() ? kBothArrivals : kPollOnly);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return kNoDevice;
  return static_cast<DeviceState>(WEXITSTATUS(status));
}

std::vector<rdma::Arrival> ArrivalsOf(const Settings& settings) {
  const DeviceState state = LookUpDevice(settings);
  std::vector<rdma::Arrival> arrivals;
  for (const rdma::Arrival arrival : {rdma::Arrival::kImmediate, rdma::Arrival::kChecksum}) {
    const bool is_wanted = settings.arrival.empty() || settings.arrival == rdma::Name(arrival);
    const bool is_possible = state == kBothArrivals || (state == kPollOnly && arrival == rdma::Arrival::kChecksum);
    if (is_wanted && is_possible) arrivals.push_back(arrival);
  }
  return arrivals;
}

// What has to be the same at all ends.
std::map<std::string, std::string> SharedSettings(const Settings& settings,
                                                  const std::vector<rdma::Arrival>& arrivals) {
  return {{"arrival",
           absl::StrJoin(arrivals, ",", [](std::string* out, rdma::Arrival each) { out->append(rdma::Name(each)); })},
          {"relaxed-ordering", settings.relaxed_ordering},
          {"slots", absl::StrJoin(settings.slots, ",")},
          {"credits", absl::StrJoin(settings.credits, ",")},
          {"channels", absl::StrJoin(settings.channels, ",")},
          {"segments", absl::StrCat(settings.segments)},
          {"signal-interval", absl::StrCat(settings.signal_interval)},
          {"inline", absl::StrCat(settings.inline_bytes)},
          {"no-read", settings.read_payload ? "false" : "true"}};
}

// Runs the benchmarks; over verbs this process is the receiver.
int Lead(Bench& bench, const Meeting& meeting) {
  bench.plane = meeting.plane.get();
  const int exit_code = RunBenchmarks();
  if (meeting.plane == nullptr) return exit_code;
  LeaveSenders(*meeting.plane);
  OrDie(meeting.plane->Leave(kLeaveGrace));
  return exit_code;
}

int Follow(const Bench& bench, const Meeting& meeting) {
  FollowReceiver(*meeting.plane, bench.settings.device, bench.fabric_cases);
  OrDie(meeting.plane->Leave(kLeaveGrace));
  return 0;
}

int Main(int argc, char** argv) {
  Bench bench{.settings = ParseSettings(argc, argv), .fabric_cases = {}};
  const Settings& settings = bench.settings;
  const rdma::PageRegion memory = OrDie(rdma::PageRegion::MapShared(sizeof(Control)));
  bench.control = new (memory.data()) Control();
  const auto is_wanted = [&settings](TransportKind kind) {
    return settings.transport.empty() ? !settings.ends.by_hand() || kind == TransportKind::kVerbs
                                      : settings.transport == rdma::Name(kind);
  };
  for (const TransportKind kind : {TransportKind::kShm, TransportKind::kLocal}) {
    if (is_wanted(kind)) Register(bench, kind, rdma::Arrival::kImmediate);
  }
  const bool any_copies = is_wanted(TransportKind::kShm) || is_wanted(TransportKind::kLocal);
  std::vector<rdma::Arrival> arrivals;
  if (is_wanted(TransportKind::kVerbs)) arrivals = ArrivalsOf(settings);
  for (const rdma::Arrival arrival : arrivals) Register(bench, TransportKind::kVerbs, arrival);
  if (!any_copies && arrivals.empty()) {
    std::cerr << "channel: there is nothing to run\n";
    return 1;
  }
  // Flags of Google Benchmark are checked before anybody is waited for.
  if (const std::optional<int> exit_code = InitializeBenchmarks(argc, argv)) return *exit_code;
  Meeting meeting;
  if (!bench.fabric_cases.empty()) meeting = OrDie(Meet("channel", settings.ends, SharedSettings(settings, arrivals)));
  const bool leads = meeting.plane == nullptr || meeting.plane->rank() == NodeId{0};
  return leads ? Lead(bench, meeting) : Follow(bench, meeting);
}

}  // namespace
}  // namespace glaive::bench

// NOLINTNEXTLINE(bugprone-exception-escape): a benchmark may end with what its libraries throw
int main(int argc, char** argv) {
  return glaive::RunMain([&] { return glaive::bench::Main(argc, argv); });
}
