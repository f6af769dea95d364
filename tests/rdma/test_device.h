// The RDMA device that tests use: GLAIVE_TEST_DEVICE, or the first. Suites that need one have "OverVerbs" in their
// name; ctest gives them the label rdma-device, and `scripts/test` runs them where there is a device.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "gtest/gtest.h"

#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {

inline std::shared_ptr<VerbsDevice> OpenTestDevice(const ConnectionSettings& connections = {}) {
  const char* const name = std::getenv("GLAIVE_TEST_DEVICE");
  return VerbsDevice::Open({.device = name == nullptr ? "" : name, .connections = connections}).value();
}

/// Bytes of all IP packets that this host has sent.
inline std::uint64_t IpBytesSent() {
  std::ifstream file("/proc/net/netstat");  // pairs of lines: names, then values
  std::string names_line;
  std::string values_line;
  while (std::getline(file, names_line) && std::getline(file, values_line)) {
    std::istringstream names(names_line);
    std::istringstream values(values_line);
    std::string name;
    std::string value;
    while (names >> name && values >> value) {
      if (name == "OutOctets") return std::stoull(value);
    }
  }
  return 0;
}

/// Packets that a device has sent as its driver counts them: Soft-RoCE's own counter, or the standard one of hardware.
/// Soft-iWARP counts none: there it is TCP's bytes, as packets of the 64 bytes that a message has at least.
inline std::uint64_t PacketsSent(const VerbsDeviceInfo& info) {
  const std::string port = "/sys/class/infiniband/" + info.device + "/ports/" + std::to_string(info.port);
  for (const char* const counter : {"/hw_counters/sent_pkts", "/counters/port_xmit_packets"}) {
    std::uint64_t packets = 0;
    if (std::ifstream file(port + counter); file >> packets) return packets;
  }
  return IpBytesSent() / 64;
}

/// Fails the test that it lives in if the test device has sent fewer packets by its end than asked for: what was tested
/// went somewhere else.
class ExpectDeviceTraffic {
 public:
  explicit ExpectDeviceTraffic(std::uint64_t packets)
      : packets_(packets), device_(OpenTestDevice()->info()), before_(PacketsSent(device_)) {}
  ExpectDeviceTraffic(const ExpectDeviceTraffic&) = delete;
  ExpectDeviceTraffic& operator=(const ExpectDeviceTraffic&) = delete;
  ~ExpectDeviceTraffic() {
    // The kernel reads the counters anew only some milliseconds after it was last asked.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    std::uint64_t sent = 0;
    do {
      sent = PacketsSent(device_) - before_;
      if (sent < packets_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } while (sent < packets_ && std::chrono::steady_clock::now() < deadline);
    EXPECT_GE(sent, packets_) << "packets sent by " << device_.device;
  }

 private:
  std::uint64_t packets_;
  VerbsDeviceInfo device_;
  std::uint64_t before_;
};

}  // namespace glaive::rdma
