// How connections come about over a real (or emulated) RDMA device, and what is said when they do not.

#include "rdma/verbs/verbs_connector.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/steady_clock.h"
#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr ConnectionSettings kShort{.join_timeout = absl::Milliseconds(500)};
/// In which a listening end answers on a busy machine, too.
constexpr ConnectionSettings kEnoughForAnAnswer{.join_timeout = absl::Seconds(2)};

std::unique_ptr<Transport> Node(std::uint32_t node, const ConnectionSettings& connections = {},
                                const RunKey& run_key = {7}) {
  return MakeTestTransport(TransportKind::kVerbs, node, kQueueDepth, Arrival::kChecksum, run_key, connections);
}

// The error that ends the wait of `connecting`; `listening`, if there is one, goes on meanwhile.
absl::Status AwaitRefusal(Transport& connecting, Transport* listening) {
  absl::Status refused;
  EXPECT_TRUE(Eventually([&] {
    if (listening != nullptr) {
      const auto polled = listening->PollConnecting();
      EXPECT_TRUE(polled.ok()) << polled.status();
    }
    refused = connecting.PollConnecting().status();
    return !refused.ok();
  }));
  return refused;
}

TEST(ConnectOverVerbs, AnotherRunIsTurnedAwayAsOftenAsItTries) {
  const auto listener = Node(0, {}, /*run_key=*/{1});
  const auto stranger = Node(1, kShort, /*run_key=*/{2});
  ASSERT_TRUE(listener->Connect(ExecutorId{1}, stranger->endpoint()).ok());
  ASSERT_TRUE(stranger->Connect(ExecutorId{0}, listener->endpoint()).ok());
  const absl::Status refused = AwaitRefusal(*stranger, listener.get());
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("refused"), HasSubstr("times in 500ms (--join-timeout)")));
  EXPECT_EQ(listener->PollConnecting().value(), NodeId{1});  // still waiting for the real one
}

TEST(ConnectOverVerbs, OnceAllAreConnectedNobodyElseCan) {
  const auto listener = Node(0);
  const auto first = Node(1);
  ASSERT_TRUE(listener->Connect(ExecutorId{1}, first->endpoint()).ok());
  ASSERT_TRUE(first->Connect(ExecutorId{0}, listener->endpoint()).ok());
  AwaitConnected(*listener, *first);
  const auto second = Node(1, kEnoughForAnAnswer);  // the same node, run and token
  ASSERT_TRUE(second->Connect(ExecutorId{0}, listener->endpoint()).ok());
  const bool still_listens = OpenTestDevice()->info().is_iwarp;
  const absl::Status refused = AwaitRefusal(*second, still_listens ? listener.get() : nullptr);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(),
              HasSubstr(still_listens ? "refused by the process that listens there" : "no process listens there"));
  EXPECT_TRUE(listener->PollFailure().ok());
}

TEST(ConnectOverVerbs, NoNameOfAPeerIsLookedUp) {
  EXPECT_EQ(Node(1)->Connect(ExecutorId{0}, {.address = "localhost:4791"}).status(),
            absl::InvalidArgumentError("'localhost' is no numeric address"));
}

TEST(ConnectOverVerbs, AnAddressOfAnotherFamilyIsRefusedAtOnce) {
  const auto node = Node(1);
  const bool is_v6 = node->endpoint().address.front() == '[';
  const absl::Status refused =
      node->Connect(ExecutorId{0}, {.address = is_v6 ? "192.0.2.7:4791" : "[fd00::9]:4791"}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("node 0 at "), HasSubstr("of one family with --bind")));
}

// An executor with other peers still listens; the token of a connection that stands opens no second one.
TEST(ConnectOverVerbs, ATokenIsGoodForOneConnection) {
  const auto make = [](std::uint32_t node, const ConnectionSettings& connections) {
    return MakeTransport(TransportKind::kVerbs, {.executor = ExecutorId{node},
                                                 .executor_count = 3,
                                                 .queue_pairs = 3,
                                                 .queue_depth = kQueueDepth,
                                                 .run_key = {7},
                                                 .device = OpenTestDevice(connections)})
        .value();
  };
  const auto listener = make(0, {});
  const auto first = make(1, {});
  ASSERT_TRUE(listener->Connect(ExecutorId{1}, first->endpoint()).ok());
  ASSERT_TRUE(listener->Connect(ExecutorId{2}, first->endpoint()).ok());  // which never comes
  ASSERT_TRUE(first->Connect(ExecutorId{0}, listener->endpoint()).ok());
  ASSERT_TRUE(Eventually([&] {
    const auto missing = first->PollConnecting();
    EXPECT_TRUE(missing.ok()) << missing.status();
    return listener->PollConnecting().value() == NodeId{2} && missing.ok() && !missing->has_value();
  }));
  const auto second = make(1, kEnoughForAnAnswer);
  ASSERT_TRUE(second->Connect(ExecutorId{0}, listener->endpoint()).ok());
  const absl::Status refused = AwaitRefusal(*second, listener.get());
  EXPECT_THAT(refused.message(), HasSubstr("refused by the process that listens there"));
  EXPECT_TRUE(first->PollFailure().ok());
}

/// Connects both ends, ends the connecting one, and returns the listening end's first answer to that.
absl::StatusOr<std::optional<NodeId>> MissingBehindDisconnection(Transport& listener,
                                                                 std::unique_ptr<Transport>& connecting) {
  EXPECT_TRUE(listener.Connect(ExecutorId{1}, connecting->endpoint()).ok());
  EXPECT_TRUE(connecting->Connect(ExecutorId{0}, listener.endpoint()).ok());
  AwaitConnected(listener, *connecting);
  connecting.reset();
  absl::StatusOr<std::optional<NodeId>> missing = std::optional<NodeId>();
  EXPECT_TRUE(Eventually([&] {
    missing = listener.PollConnecting();
    return !missing.ok() || missing->has_value();
  }));
  return missing;
}

TEST(ConnectOverVerbs, AListeningEndThatIsDisconnectedSaysSo) {
  if (OpenTestDevice()->info().is_iwarp) GTEST_SKIP() << "over iWARP it waits for the next attempt";
  const auto listener = Node(0);
  auto connecting = Node(1);
  EXPECT_THAT(MissingBehindDisconnection(*listener, connecting).status().message(),
              HasSubstr("the queue pair was disconnected"));
}

// The listening end of iWARP stands before the connecting one, which may still fail and come again.
TEST(ConnectOverVerbs, AListeningEndOfIWarpThatIsDisconnectedWaitsForTheNextAttempt) {
  if (!OpenTestDevice()->info().is_iwarp) GTEST_SKIP() << "the device is not of iWARP";
  const auto listener = Node(0);
  auto connecting = Node(1);
  EXPECT_EQ(MissingBehindDisconnection(*listener, connecting).value(), NodeId{1});
  connecting = Node(1);
  ASSERT_TRUE(connecting->Connect(ExecutorId{0}, listener->endpoint()).ok());
  AwaitConnected(*listener, *connecting);
  EXPECT_TRUE(listener->PollFailure().ok());
  connecting.reset();
  absl::Status failure;
  ASSERT_TRUE(Eventually([&] { return !(failure = listener->PollFailure()).ok(); })) << "all ends stood";
  EXPECT_THAT(failure.message(), HasSubstr("the queue pair was disconnected"));
}

TEST(ConnectOverVerbs, AnExecutorReachesItself) {
  const auto transport = MakeTestTransport(TransportKind::kVerbs, 0, kQueueDepth);
  const ExposedRegion exposed = transport->Expose(4096).value();
  std::vector<std::byte> local(64, std::byte{5});
  const LocalKey key = transport->Register(local).value();
  QueuePair* const queue_pair = transport->Connect(ExecutorId{0}, transport->endpoint()).value();
  AwaitConnected(*transport, *transport);
  ASSERT_TRUE(queue_pair->TryPostWrite({.local = local.data(),
                                        .length = 64,
                                        .local_key = key,
                                        .remote = transport->Attach(exposed.descriptor).value()}));
  transport->Flush();
  EXPECT_TRUE(Eventually(
      [&] { return std::atomic_ref(*reinterpret_cast<std::uint8_t*>(exposed.memory.data() + 63)).load() == 5; }));
}

TEST(ConnectOverVerbs, NobodyAtTheAddressIsSaidWithTheNumberOfAttempts) {
  const auto transport = Node(1, kShort);
  std::string address = transport->endpoint().address;
  address = address.substr(0, address.rfind(':')) + ":9";
  ASSERT_TRUE(transport->Connect(ExecutorId{0}, {.owner = 0, .address = address}).ok());
  const std::int64_t start_ns = SteadyClock().NowNanos();
  const absl::Status failed = AwaitRefusal(*transport, nullptr);
  EXPECT_GE(SteadyClock().NowNanos() - start_ns, absl::ToInt64Nanoseconds(kShort.join_timeout) * 9 / 10);
  EXPECT_THAT(failed.message(), AllOf(HasSubstr(address), ContainsRegex("tried [0-9]+ times in 500ms")));
  EXPECT_TRUE(transport->PollConnecting().ok()) << "reported once";
}

// Takes the interface of the test device down; only in the guest of scripts/softroce, where nothing else needs it.
class FlappingPortAloneOverVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const profile = std::getenv("GLAIVE_SOFTROCE_PROFILE");
    if (profile == nullptr || (std::strcmp(profile, "rxe") != 0 && std::strcmp(profile, "siw") != 0)) {
      GTEST_SKIP() << "takes the network interface down: only in the guest of scripts/softroce";
    }
  }
  void TearDown() override {
    if (!IsSkipped()) Set("up");
  }

  static void Set(const char* state) {
    EXPECT_EQ(std::system(absl::StrCat("ip link set eth0 ", state).c_str()), 0);  // NOLINT(bugprone-command-processor)
  }

  // Of the one device: all objects for it share its events.
  static std::unique_ptr<Transport> NodeOn(const std::shared_ptr<VerbsDevice>& device, std::uint32_t node) {
    return MakeTransport(TransportKind::kVerbs, {.executor = ExecutorId{node},
                                                 .executor_count = 2,
                                                 .queue_pairs = 2,
                                                 .queue_depth = kQueueDepth,
                                                 .run_key = {7},
                                                 .device = device})
        .value();
  }

  static void AwaitPortDown(VerbsDevice& device) {
    ASSERT_TRUE(Eventually([&] { return device.PollFatal().ok() && !device.PortDown().ok(); }));
  }
};

TEST_F(FlappingPortAloneOverVerbs, WaitsForThePort) {
  const auto device = OpenTestDevice();
  const auto listening = NodeOn(device, 0);
  const auto connecting = NodeOn(device, 1);
  Set("down");
  AwaitPortDown(*device);
  ASSERT_TRUE(listening->Connect(ExecutorId{1}, connecting->endpoint()).ok());
  ASSERT_TRUE(connecting->Connect(ExecutorId{0}, listening->endpoint()).ok());
  const std::int64_t end_ns = SteadyClock().NowNanos() + 2 * DeviceHealth::kPortPatienceNanos;
  while (SteadyClock().NowNanos() < end_ns) {
    for (Transport* const transport : {listening.get(), connecting.get()}) {
      const auto missing = transport->PollConnecting();
      ASSERT_TRUE(missing.ok()) << missing.status();
      ASSERT_TRUE(missing->has_value());
    }
    std::this_thread::yield();
  }
  EXPECT_THAT(device->connect_failures().LastOf(NodeId{0}), HasSubstr(" port 1 is down"));
  Set("up");
  AwaitConnected(*listening, *connecting);
}

TEST_F(FlappingPortAloneOverVerbs, NamesAPortThatStaysDown) {
  const auto device = OpenTestDevice(kShort);
  const auto listening = NodeOn(device, 0);
  const auto connecting = NodeOn(device, 1);
  Set("down");
  AwaitPortDown(*device);
  ASSERT_TRUE(connecting->Connect(ExecutorId{0}, listening->endpoint()).ok());
  const absl::Status failure = AwaitRefusal(*connecting, nullptr);
  EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr(" port 1 is down; look at cable"), HasSubstr("times in 500ms")));
}

TEST(DeviceOverVerbs, RefusesImmediatesWhereItHasNone) {
  const auto device = OpenTestDevice();
  const auto transport = MakeTransport(TransportKind::kVerbs, {.arrival = Arrival::kImmediate,
                                                               .receives = kQueueDepth,
                                                               .node_arrivals = std::make_shared<NodeArrivals>(1),
                                                               .device = device});
  EXPECT_EQ(transport.ok(), device->info().has_immediates()) << transport.status();
  if (!transport.ok()) EXPECT_THAT(transport.status().message(), HasSubstr("use --arrival=poll"));
}

TEST(DeviceOverVerbs, DescribesWhatWasOpened) {
  const VerbsDeviceInfo info = OpenTestDevice()->info();
  EXPECT_FALSE(info.device.empty());
  EXPECT_GE(info.port, 1U);
  EXPECT_GE(info.mtu_bytes, 256U);
  EXPECT_LE(info.mtu_bytes, 4096U);
  EXPECT_GT(info.max_queue_depth, 0U);
  EXPECT_GE(info.gid_index, 0);
  EXPECT_THAT(info.Describe(), HasSubstr(info.address));
  if (info.link_layer == "Ethernet" && !info.is_iwarp) EXPECT_EQ(info.gid_type, "RoCE v2");
  EXPECT_EQ(absl::StrContains(info.Describe(), ", ACK timeout 67.1 ms,"), !info.is_iwarp) << info.Describe();
  const auto by_address = VerbsDevice::Open({.address = info.address});
  ASSERT_TRUE(by_address.ok()) << by_address.status();
  EXPECT_EQ((*by_address)->info().device, info.device);
}

TEST(DeviceOverVerbs, UnknownNamesAndAddressesAreRefusedWithWhatThereIs) {
  const std::string device = OpenTestDevice()->info().device;
  const absl::Status no_device = VerbsDevice::Open({.device = "mlx9_9"}).status();
  EXPECT_THAT(no_device.message(), AllOf(HasSubstr("--device=mlx9_9"), HasSubstr(device)));
  const absl::Status no_address = VerbsDevice::Open({.address = "192.0.2.7"}).status();
  EXPECT_THAT(no_address.message(), AllOf(HasSubstr("--bind=192.0.2.7"), HasSubstr(device)));
}

TEST(DeviceOverVerbs, QueuesBeyondTheDeviceAreRefusedWithItsLimits) {
  const TransportOptions options{.queue_depth = 1U << 30, .device = OpenTestDevice()};
  EXPECT_THAT(MakeTransport(TransportKind::kVerbs, options).status().message(),
              AllOf(HasSubstr("has at most"), HasSubstr("--credits")));
}

}  // namespace
}  // namespace glaive::rdma
