// Whether RDMA places the bytes of one WRITE in address order, between two ends of this host or over the fabric between
// hosts.
//
//   build/release/bin/write_order --device=mlx5_0 --seconds=10
//   build/release/bin/write_order --listen=10.0.0.1:7700 --secret-file=run.secret      # on the first host: reads
//   build/release/bin/write_order --connect=10.0.0.1:7700 --secret-file=run.secret     # on the second: writes
//   build/release/bin/write_order --self-test
//
// A writer, a process of its own, sends messages of several sizes over --queue-pairs connections, up to eight at once
// on each, every byte of a message being the number of its lap. The reader polls the last byte and at once reads
// every cache line of the message. --incast=N has as many writers. A line that is late means that --arrival=poll has to
// wait for the rest of such messages, and --arrival=imm costs less. --self-test needs no device: the writer copies
// backwards in shared memory, and the check must find that.
//
// Finding nothing is no proof: run it for long, and under load. Exit code 0: nothing was late; 1: something was, or the
// self-test found nothing; 2: wrong flags; 3: no device, it or another end failed, or standard output cannot be
// written.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"

#include "bench/common/await_all_ends.h"
#include "bench/common/device_counters.h"
#include "bench/common/meeting.h"
#include "bench/common/ordering.h"
#include "bench/write_order/order_failure.h"
#include "bench/write_order/order_link.h"
#include "bench/write_order/order_run.h"
#include "engine/cluster/standard_streams.h"
#include "engine/flags/tool_flags.h"
#include "rdma/base/exhaustion.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/memory/page_region.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {
namespace {

using rdma::ControlPlane;
using rdma::VerbsDevice;

constexpr std::uint32_t kMaxQueuePairs = 64;
constexpr absl::Duration kLeaveGrace = absl::Seconds(5);

struct Settings {
  rdma::DeviceChoice device;
  std::string relaxed_ordering = "auto";
  double seconds = 5;
  std::uint32_t queue_pairs = 1;  // of each writer
  bool self_test = false;
  MeetingFlags ends;

  std::uint32_t links() const { return ends.senders * queue_pairs; }
};

// The self-test's memory of both ends, by link; shared by all processes.
struct SelfTestMemory {
  std::vector<rdma::PageRegion> readers;
  std::vector<rdma::PageRegion> writers;
};

SelfTestMemory MapSelfTest(const Settings& settings) {
  SelfTestMemory memory;
  for (std::uint32_t link = 0; settings.self_test && link < settings.links(); ++link) {
    memory.readers.push_back(OrFail(rdma::PageRegion::MapShared(kOrderWordBytes + kOrderRingBytes)));
    memory.writers.push_back(OrFail(rdma::PageRegion::MapShared(kOrderWordBytes)));
  }
  return memory;
}

// One end of the run: its links, connected, and its device.
class End {
 public:
  End(const Settings& settings, ControlPlane& plane, const SelfTestMemory& memory) : plane_(plane) {
    const bool reads = plane.rank() == NodeId{0};
    const std::uint32_t count = reads ? settings.links() : settings.queue_pairs;
    const std::uint32_t first = reads ? 0 : (Value(plane.rank()) - 1) * settings.queue_pairs;
    if (settings.self_test) {
      for (std::uint32_t link = first; link < first + count; ++link) {
        const auto reader = memory.readers[link].bytes();
        const auto writer = memory.writers[link].bytes();
        links_.push_back(std::make_unique<OrderLink>(reads ? reader : writer, reads ? writer : reader));
      }
      return;
    }
    if (!reads) OrFail(plane.AllGather("device", ""));  // one complaint about the device is enough
    device_ = OrFail(VerbsDevice::Open(settings.device));
    if (reads) OrFail(plane.AllGather("device", ""));
    const bool relaxes = RelaxesOrdering(settings.relaxed_ordering, device_->info());
    std::string mine;
    for (std::uint32_t link = first; link < first + count; ++link) {
      const OrderLink::Side side = reads ? OrderLink::Side::kReader : OrderLink::Side::kWriter;
      links_.push_back(std::make_unique<OrderLink>(side, rdma::PartKey(plane.run_key(), link), relaxes, device_));
      absl::StrAppend(&mine, links_.back()->Describe(), "\n");
    }
    Connect(OrFail(plane.AllGather("links", mine)), first);
    counters_ = Read();
  }

  OrderLinks& links() { return links_; }

  // What the devices of all ends counted since their links stood.
  DeviceCounters Counters() const {
    if (device_ == nullptr) return {};
    const std::string host = plane_.members()[Value(plane_.rank())].host_id;
    const EndCounters mine{.device = absl::StrCat(host, "/", device_->info().device),
                           .changes = ChangesSince(counters_, Read())};
    std::vector<EndCounters> ends;
    for (const std::string& text : OrFail(plane_.AllGather("counters", mine.Encode()))) {
      ends.push_back(OrFail(EndCounters::Decode(text)));
    }
    return Collect(ends);
  }

 private:
  // The reader has the links of all writers, in the order of their ranks.
  void Connect(const std::vector<std::string>& texts, std::uint32_t first) {
    const bool reads = plane_.rank() == NodeId{0};
    std::vector<std::string> others;
    for (std::size_t rank = reads ? 1 : 0; rank < (reads ? texts.size() : 1); ++rank) {
      const std::vector<std::string> lines = absl::StrSplit(texts[rank], '\n', absl::SkipEmpty());
      others.insert(others.end(), lines.begin(), lines.end());
    }
    if (others.size() < first + links_.size()) {
      OrDie(absl::InvalidArgumentError("an end has described too few links"), kOrderFailed);
    }
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->StartConnecting(others[first + i]);
    OrDie(AwaitAllEnds(plane_, [this] { return PollConnecting(); }), kOrderFailed);
  }

  absl::StatusOr<bool> PollConnecting() {
    bool all_stand = true;
    for (const auto& link : links_) {
      const absl::StatusOr<bool> stands = link->PollConnecting();
      if (!stands.ok()) return stands;
      all_stand = all_stand && *stands;
    }
    return all_stand;
  }

  DeviceCounters Read() const { return ReadDeviceCounters(device_->info().device, device_->info().port); }

  ControlPlane& plane_;
  std::shared_ptr<VerbsDevice> device_;
  OrderLinks links_;
  DeviceCounters counters_;
};

// What was found, and the exit code.
int Report(const Settings& settings, const OrderResult& total) {
  if (settings.self_test) {
    std::cout << (total.too_early > 0 ? "self-test passed: a writer that writes backwards was found out\n"
                                      : "self-test FAILED: a writer that writes backwards was not found out\n");
    return total.too_early > 0 ? 0 : 1;
  }
  if (total.too_early == 0) {
    std::cout << "no message was seen before it was complete\n";
    return 0;
  }
  std::cout << "this device does not place writes in order: --arrival=imm costs less here than --arrival=poll, which "
               "has to wait for the rest of such messages\n";
  return 1;
}

int ReadAllSizes(const Settings& settings, ControlPlane& plane, End& end) {
  OrderReader reader(plane, end.links());
  OrderResult total;
  std::cout << absl::StrFormat("%10s %12s %12s %16s %20s\n", "bytes", "messages", "too early", "late lines, max",
                               "bytes behind, max")
            << std::flush;  // rows come seconds apart
  for (std::size_t index = 0; index < kOrderSizes.size(); ++index) {
    const OrderResult result = reader.Read(index, settings.seconds / kOrderSizes.size());
    std::cout << absl::StrFormat("%10u %12u %12u %16u %20u\n", kOrderSizes[index], result.messages, result.too_early,
                                 result.worst.late_lines, result.worst.farthest_bytes)
              << std::flush;
    total.messages += result.messages;
    total.too_early += result.too_early;
  }
  std::cout << absl::StrFormat("%10s %12u %12u\n", "all", total.messages, total.too_early);
  for (const auto& [name, count] : end.Counters()) std::cout << "counted by " << name << ": " << count << "\n";
  return Report(settings, total);
}

int Run(const Settings& settings) {
  const SelfTestMemory memory = MapSelfTest(settings);
  const Meeting meeting = OrFail(Meet("write_order", settings.ends,
                                      {{"seconds", absl::StrCat(settings.seconds)},
                                       {"queue-pairs", absl::StrCat(settings.queue_pairs)},
                                       {"relaxed-ordering", settings.relaxed_ordering}},
                                      kOrderFailed));
  ControlPlane& plane = *meeting.plane;
  End end(settings, plane, memory);
  int exit_code = 0;
  if (plane.rank() == NodeId{0}) {
    exit_code = ReadAllSizes(settings, plane, end);
  } else {
    WriteAllSizes(plane, end.links());
    end.Counters();
  }
  OrDie(plane.Leave(kLeaveGrace), kOrderFailed);
  return exit_code;
}

int Main(int argc, char** argv) {
  Settings settings;
  const char* const device = std::getenv("GLAIVE_TEST_DEVICE");
  if (device != nullptr) settings.device.device = device;
  CLI::App flags("Whether RDMA places a WRITE in address order");
  flags.add_option("--device", settings.device.device, "default: GLAIVE_TEST_DEVICE, else the first");
  flags.add_option("--bind", settings.device.address, "the device's address");
  AddOrderingFlag(flags, settings.relaxed_ordering);
  flags.add_option("--seconds", settings.seconds, "for all sizes together")->check(CLI::Range(1e-3, 1e6));
  flags.add_option("--queue-pairs", settings.queue_pairs, "of each writer, side by side")
      ->check(CLI::Range(std::uint32_t{1}, kMaxQueuePairs));
  AddMeetingFlags(flags, settings.ends);
  flags.add_flag("--self-test", settings.self_test, "without a device, a writer that writes backwards")
      ->excludes("--listen", "--connect");
  if (const std::optional<int> exit_code = engine::ParseToolFlags(flags, "write_order", argc, argv)) {
    return engine::ExitCodeAfterOutput("write_order", *exit_code, kOrderFailed);
  }
  if (std::isnan(settings.seconds)) {  // CLI::Range accepts NaN
    std::cerr << "write_order: --seconds: not a number; see --help\n";
    return 2;
  }
  return engine::ExitCodeAfterOutput("write_order", Run(settings), kOrderFailed);
}

}  // namespace
}  // namespace glaive::bench

// NOLINTNEXTLINE(bugprone-exception-escape): a benchmark may end with what its libraries throw
int main(int argc, char** argv) {
  return glaive::RunMain([&] { return glaive::bench::Main(argc, argv); }, glaive::bench::kOrderFailed);
}
