#include "rdma/verbs/device_choice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SocketAddress Numeric(const std::string& host) { return ResolveAddress(host, 0)->front(); }

InterfaceAddress Interface(const std::string& host, const std::string& netmask) {
  return {.address = Numeric(host), .netmask = Numeric(netmask)};
}

std::vector<std::string> Order(const std::vector<InterfaceAddress>& addresses, const std::vector<SocketAddress>& near) {
  std::vector<std::string> hosts;
  for (const InterfaceAddress& each : OrderAddresses(addresses, near)) {
    hosts.push_back(ParseHostPort(FormatAddress(each.address))->host);
  }
  return hosts;
}

const std::vector<InterfaceAddress>& Interfaces() {
  static const std::vector<InterfaceAddress> kInterfaces = {
      Interface("fd00::1", "ffff:ffff:ffff:ffff::"), Interface("192.168.0.1", "255.255.0.0"),
      Interface("10.1.2.3", "255.255.255.0"), Interface("fd01::1", "ffff:ffff:ffff:ffff::")};
  return kInterfaces;
}

TEST(OrderAddresses, PutsIpv4FirstWhereNothingIsNear) {
  EXPECT_THAT(Order(Interfaces(), {}), ElementsAre("192.168.0.1", "10.1.2.3", "fd00::1", "fd01::1"));
}

TEST(OrderAddresses, PrefersTheSubnetAndThenTheFamily) {
  EXPECT_THAT(Order(Interfaces(), {Numeric("10.1.2.200")}),
              ElementsAre("10.1.2.3", "192.168.0.1", "fd00::1", "fd01::1"));
  EXPECT_THAT(Order(Interfaces(), {Numeric("fd01::77")}), ElementsAre("fd01::1", "fd00::1", "192.168.0.1", "10.1.2.3"));
  EXPECT_THAT(Order(Interfaces(), {Numeric("2001:db8::1")}),
              ElementsAre("fd00::1", "fd01::1", "192.168.0.1", "10.1.2.3"));
  EXPECT_THAT(Order(Interfaces(), {Numeric("10.1.3.1")}), ElementsAre("192.168.0.1", "10.1.2.3", "fd00::1", "fd01::1"));
}

RdmaPort Port(const std::string& device, const std::string& state, const std::string& link_layer = "Ethernet",
              bool has_connections = true) {
  return {.device = device, .port = 1, .state = state, .link_layer = link_layer, .has_connections = has_connections};
}

std::string Refusal(const DeviceChoice& choice, const std::vector<RdmaPort>& ports) {
  const absl::Status status = NoUsableDevice(choice, ports);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

TEST(NoUsableDevice, SaysThatThereIsNoneOrNoneOfThatName) {
  EXPECT_THAT(Refusal({}, {}), HasSubstr("this host has no RDMA device"));
  EXPECT_THAT(Refusal({.device = "mlx5_7"}, {Port("mlx5_0", "active")}),
              AllOf(HasSubstr("--device=mlx5_7: there is no such device"), HasSubstr("mlx5_0 port 1 (active)")));
}

TEST(NoUsableDevice, SaysThatNoPortIsActiveOnlyIfNoneOfTheChosenIs) {
  const std::vector<RdmaPort> ports = {Port("mlx5_0", "down"), Port("mlx5_1", "active")};
  EXPECT_THAT(Refusal({.device = "mlx5_0"}, ports), HasSubstr("no port is active: mlx5_0 port 1 (down)"));
  EXPECT_THAT(Refusal({}, ports), AllOf(Not(HasSubstr("no port is active")), HasSubstr("no RDMA device has an IP")));
}

TEST(NoUsableDevice, NamesAnAddressThatNoDeviceHas) {
  EXPECT_THAT(Refusal({.address = "192.0.2.7"}, {Port("mlx5_0", "active")}),
              AllOf(HasSubstr("--bind=192.0.2.7"), HasSubstr("an RDMA device has this address")));
}

TEST(NoUsableDevice, SaysHowInfinibandGetsAnAddress) {
  EXPECT_THAT(Refusal({}, {Port("mlx5_0", "active", "InfiniBand"), Port("mlx5_1", "down")}),
              AllOf(HasSubstr("mlx5_0 port 1 (active) is InfiniBand without an IP address"),
                    HasSubstr("modprobe ib_ipoib"), Not(HasSubstr("mlx5_1"))));
}

TEST(NoUsableDevice, SaysThatEfaHasNoReliableConnections) {
  EXPECT_THAT(Refusal({}, {Port("rdmap0s6", "active", "unspecified", /*has_connections=*/false)}),
              AllOf(HasSubstr("rdmap0s6 port 1 (active)"), HasSubstr("EFA"), HasSubstr("--transport=shm")));
}

TEST(NoUsableDevice, PassesOverEfaWhereThereAreOthers) {
  EXPECT_THAT(Refusal({}, {Port("rdmap0s6", "active", "unspecified", false), Port("mlx5_0", "down")}),
              HasSubstr("no port is active"));
}

}  // namespace
}  // namespace glaive::rdma
