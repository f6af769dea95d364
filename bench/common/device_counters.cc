#include "bench/common/device_counters.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace glaive::bench {
namespace {

// Counters that change in a run without any trouble, as rxe, mlx5, irdma and bnxt_re call them, and those of the
// InfiniBand specification.
constexpr std::array<std::string_view, 32> kTraffic = {"sent_pkts",
                                                       "rcvd_pkts",
                                                       "port_xmit_data",
                                                       "port_xmit_packets",
                                                       "port_rcv_data",
                                                       "port_rcv_packets",
                                                       "unicast_xmit_packets",
                                                       "unicast_rcv_packets",
                                                       "rx_write_requests",
                                                       "rx_read_requests",
                                                       "rx_atomic_requests",
                                                       "rdma_sends",
                                                       "rdma_recvs",
                                                       "ack_deferred",
                                                       "lifespan",
                                                       "InRdmaWrites",
                                                       "InRdmaSends",
                                                       "InRdmaReads",
                                                       "OutRdmaWrites",
                                                       "OutRdmaSends",
                                                       "OutRdmaReads",
                                                       "ip4InOctets",
                                                       "ip4InPkts",
                                                       "ip4OutOctets",
                                                       "ip4OutPkts",
                                                       "ip6InOctets",
                                                       "ip6InPkts",
                                                       "ip6OutOctets",
                                                       "ip6OutPkts",
                                                       "RxUDP",
                                                       "TxUDP",
                                                       "multicast_rcv_packets"};

bool IsTraffic(std::string_view name) {
  return std::find(kTraffic.begin(), kTraffic.end(), name) != kTraffic.end() || name.starts_with("rx_bytes") ||
         name.starts_with("tx_bytes") || name.starts_with("rx_pkts") || name.starts_with("tx_pkts");
}

}  // namespace

DeviceCounters ReadDeviceCounters(const std::string& device, std::uint32_t port, const std::filesystem::path& root) {
  DeviceCounters counters;
  for (const char* folder : {"counters", "hw_counters"}) {
    std::error_code error;  // a folder that is not there has no entries
    for (const auto& entry :
         std::filesystem::directory_iterator(root / device / "ports" / absl::StrCat(port) / folder, error)) {
      const std::string name = entry.path().filename();
      std::uint64_t value = 0;
      if (!IsTraffic(name) && std::ifstream(entry.path()) >> value) counters[name] = value;
    }
  }
  return counters;
}

DeviceCounters ChangesSince(const DeviceCounters& before, const DeviceCounters& after) {
  DeviceCounters changes;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old != before.end() && value > old->second) changes[name] = value - old->second;
  }
  return changes;
}

std::string EndCounters::Encode() const {
  return absl::StrCat(device, " ", absl::StrJoin(changes, " ", absl::PairFormatter("=")));
}

absl::StatusOr<EndCounters> EndCounters::Decode(std::string_view text) {
  std::vector<std::string> words = absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
  if (words.empty()) return absl::InvalidArgumentError("counters of no device");
  EndCounters end{.device = words.front(), .changes = {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(words[i], '=');
    std::uint64_t value = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &value)) {
      return absl::InvalidArgumentError(absl::StrCat("'", words[i], "' is no counter"));
    }
    end.changes[parts[0]] = value;
  }
  return end;
}

DeviceCounters Collect(std::span<const EndCounters> ends) {
  // Ends of one device have read it at different times; the one that saw most has seen all.
  std::map<std::string, DeviceCounters> by_device;
  for (const EndCounters& end : ends) {
    DeviceCounters& most = by_device[end.device];
    for (const auto& [name, value] : end.changes) most[name] = std::max(most[name], value);
  }
  DeviceCounters collected;
  for (const auto& [device, counters] : by_device) {
    const std::string prefix = device == ends.front().device ? "receiver:" : "senders:";
    for (const auto& [name, value] : counters) collected[prefix + name] += value;
  }
  return collected;
}

}  // namespace glaive::bench
