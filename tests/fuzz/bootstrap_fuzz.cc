// Drives the control plane's state machines with hostile connections: the coordinator's door (with and without the
// secret), the coordinator in mid-run, and a member whose coordinator is hostile. In mid-run, connections are sealed or
// not: the hostile end has the keys, or somebody between the ends, who has not, changes its records.
//
// The input is a list of steps: messages of every type with arbitrary fields, frames of arbitrary headers, bytes
// without any form, records that are forged, connections that end, time that passes, calls of this node. Whatever
// comes, no call may crash or hang, a forged record is a failure, and a failure stays the same.

#include <fuzzer/FuzzedDataProvider.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rdma/base/address.h"
#include "rdma/bootstrap/admission.h"
#include "rdma/bootstrap/coordinator.h"
#include "rdma/bootstrap/member_plane.h"
#include "tests/fuzz/fuzz_clock.h"
#include "tests/fuzz/require.h"

namespace glaive::rdma {
namespace {

constexpr std::uint32_t kNodes = 3;

const Secret& TheSecret() {
  static const Secret secret = *Secret::FromText(std::string(kMinSecretCharacters, 's'));
  return secret;
}

BootstrapOptions Options() {
  return {.secret = TheSecret(),
          .random =
              [](std::span<std::uint8_t> out) {
                for (std::uint8_t& byte : out) byte = 5;
              },
          .join_timeout = absl::Seconds(1)};
}

Hello HelloOf(std::uint32_t rank) {
  return {.program = "fuzz",
          .commit = "c",
          .rank = NodeId{rank},
          .nodes = kNodes,
          .host_id = "h",
          .pid = 7,
          .settings = {}};
}

template <typename Bytes>
Bytes AnyBytes(FuzzedDataProvider& input) {
  Bytes bytes{};
  for (auto& byte : bytes) byte = input.ConsumeIntegral<std::uint8_t>();
  return bytes;
}

std::string AnyText(FuzzedDataProvider& input) { return input.ConsumeRandomLengthString(64); }

NodeId AnyRank(FuzzedDataProvider& input) { return NodeId{input.ConsumeIntegralInRange<std::uint32_t>(0, kNodes)}; }

ControlMessage AnyMessage(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 9)) {
    case 0:
      return ChallengeMessage{.nonce = AnyBytes<Nonce>(input)};
    case 1:
      return AnswerMessage{.nonce = AnyBytes<Nonce>(input), .proof = AnyBytes<Digest>(input)};
    case 2:
      return AcceptMessage{.proof = AnyBytes<Digest>(input)};
    case 3: {
      Hello hello = HelloOf(Value(AnyRank(input)));
      if (input.ConsumeBool()) hello.settings[AnyText(input)] = AnyText(input);
      if (input.ConsumeBool()) hello.nodes = input.ConsumeIntegral<std::uint32_t>();
      return hello;
    }
    case 4: {
      WelcomeMessage welcome{.run_token = 1, .members = {}};
      while (input.ConsumeBool()) welcome.members.push_back({.rank = AnyRank(input), .host_id = AnyText(input)});
      return welcome;
    }
    case 5:
      return GatherMessage{.phase = input.ConsumeBool() ? "p" : AnyText(input), .payload = AnyText(input)};
    case 6:
      return PartMessage{
          .phase = input.ConsumeBool() ? "p" : AnyText(input), .rank = AnyRank(input), .payload = AnyText(input)};
    case 7:
      return AbortMessage{
          absl::Status(static_cast<absl::StatusCode>(input.ConsumeIntegralInRange(1, 40)), AnyText(input))};
    case 8:
      return LeaveMessage{};
    default:
      return BeatMessage{};
  }
}

/// What a hostile end sends next: a message, a frame of any header, the start of a frame, or anything.
std::string AnySpeech(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return EncodeMessage(AnyMessage(input));
    case 1:
      return EncodeFrame(input.ConsumeRandomLengthString(512), AnyText(input));
    case 2: {
      const std::string frame = EncodeMessage(AnyMessage(input));
      return frame.substr(0, input.ConsumeIntegralInRange<std::size_t>(0, frame.size()));
    }
    default:
      return input.ConsumeRandomLengthString(256);
  }
}

/// Both ends of a connection: one of the code under test, one of the fuzzer.
class Wire {
 public:
  Wire() {
    int ends[2];
    Require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
            "the system joins two sockets");
    tested_ = std::make_unique<Connection>(UniqueFd(ends[0]), "fuzzer", kMemberLimits);
    hostile_ = UniqueFd(ends[1]);
  }

  std::unique_ptr<Connection> TakeTested() { return std::move(tested_); }
  /// From now on both ends send records under these keys. Before TakeTested.
  void Seal(const Digest& of_tested, const Digest& of_hostile) {
    tested_->Seal(of_tested, of_hostile);
    seal_.emplace(of_hostile);
  }
  /// The hostile end says something. Whether a forged record was put where the tested end has to notice it.
  bool Speak(FuzzedDataProvider& input) {
    const std::string speech = AnySpeech(input);
    if (!seal_.has_value() || speech.empty()) {
      is_intact_ = is_intact_ && speech.empty();
      Say(speech);
      return false;
    }
    std::string record = seal_->Seal(speech);
    bool is_forged = is_intact_;
    switch (input.ConsumeIntegralInRange(0, 7)) {
      case 0: {  // behind the length, where a wrong one makes the tested end wait
        char& changed = record[input.ConsumeIntegralInRange(kRecordPrefixBytes, record.size() - 1)];
        changed = static_cast<char>(changed ^ input.ConsumeIntegralInRange<char>(1, 127));
        break;
      }
      case 1:
        record += record;
        break;
      case 2:
        record = seal_->Seal(speech);  // the one before is left out
        break;
      case 3:  // the tested end waits for the rest
        record.resize(input.ConsumeIntegralInRange<std::size_t>(0, record.size() - 1));
        is_forged = false;
        is_intact_ = false;
        break;
      case 4:
        record = input.ConsumeRandomLengthString(64);
        is_forged = false;
        is_intact_ = false;
        break;
      default:
        is_forged = false;
    }
    return Say(record) && is_forged;
  }
  void Close() { hostile_.Reset(); }

 private:
  // Whether all of it is on its way.
  bool Say(const std::string& bytes) {
    if (!hostile_.valid()) return false;
    const bool sent = ::send(hostile_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes);
    char drained[4096];
    while (::recv(hostile_.get(), drained, sizeof(drained), MSG_DONTWAIT) > 0) {
    }
    return sent;
  }

  std::unique_ptr<Connection> tested_;
  UniqueFd hostile_;
  std::optional<FrameSeal> seal_;  // of the hostile end
  bool is_intact_ = true;          // all that was said were whole records, in order
};

/// Seals the wire of a member, as the handshake does, if the input says so.
void MaybeSeal(FuzzedDataProvider& input, Wire& wire, bool tested_is_coordinator) {
  if (!input.ConsumeBool()) return;
  const SessionKeys keys = DeriveKeys(TheSecret(), Nonces{});
  wire.Seal(tested_is_coordinator ? keys.coordinator : keys.member,
            tested_is_coordinator ? keys.member : keys.coordinator);
}

/// A plane in mid-run, whose peers are all hostile.
void FuzzPlane(FuzzedDataProvider& input, ControlPlane& plane, FuzzClock& clock, std::vector<Wire>& wires) {
  std::optional<absl::Status> failure;
  while (input.remaining_bytes() > 0) {
    Wire& wire = wires[input.ConsumeIntegralInRange<std::size_t>(0, wires.size() - 1)];
    bool is_forged = false;
    switch (input.ConsumeIntegralInRange(0, 7)) {
      case 0:
        wire.Close();
        break;
      case 1:
        clock.Advance(input.ConsumeIntegral<std::uint32_t>());
        break;
      case 2: {
        const auto all = plane.AllGather("p", AnyText(input), absl::Milliseconds(3));
        Require(!all.ok() || all->size() == kNodes, "a gathering has a part of every node");
        break;
      }
      default:
        is_forged = wire.Speak(input);
    }
    const std::optional<absl::Status> seen = plane.PollFailure();
    Require(!is_forged || seen.has_value(), "a forged record ends the run");
    Require(!failure.has_value() || seen == failure, "a failure stays the same");
    failure = seen;
  }
  for (Wire& wire : wires) wire.Close();
  if (input.ConsumeBool()) {
    (void)plane.Leave(absl::Milliseconds(5));
  } else {
    plane.Abort(absl::InternalError("over"));
  }
}

void FuzzCoordinator(FuzzedDataProvider& input) {
  FuzzClock clock;
  std::vector<Wire> wires(kNodes - 1);
  std::vector<MemberLink> links(kNodes);
  for (std::uint32_t rank = 0; rank < kNodes; ++rank) {
    links[rank].member = {.rank = NodeId{rank}, .host_id = "h", .pid = rank};
    if (rank == 0) continue;
    MaybeSeal(input, wires[rank - 1], /*tested_is_coordinator=*/true);
    links[rank].connection = wires[rank - 1].TakeTested();
    links[rank].connection->StartPulse(absl::Seconds(5), 0);
  }
  Coordinator coordinator(1, RunKey{}, std::move(links), Waiter(-1, GoOn, clock));
  FuzzPlane(input, coordinator, clock, wires);
}

void FuzzMember(FuzzedDataProvider& input) {
  FuzzClock clock;
  std::vector<Wire> wires(1);
  WelcomeMessage welcome{.run_token = 1, .members = {}};
  for (std::uint32_t rank = 0; rank < kNodes; ++rank) welcome.members.push_back({.rank = NodeId{rank}, .host_id = "h"});
  MaybeSeal(input, wires[0], /*tested_is_coordinator=*/false);
  MemberPlane member(NodeId{1}, RunKey{}, std::move(welcome), wires[0].TakeTested(), Waiter(-1, GoOn, clock));
  FuzzPlane(input, member, clock, wires);
}

/// Connects, also when the alarm by which libFuzzer looks for hangs comes in between: the kernel goes on by itself
/// then.
void Connect(const UniqueFd& fd, const SocketAddress& address) {
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) == 0) return;
  Require(errno == EINTR, "a connection is refused by nobody");
  pollfd connected{.fd = fd.get(), .events = POLLOUT, .revents = 0};
  while (::poll(&connected, 1, -1) != 1) Require(errno == EINTR, "the system waits");
  Require((connected.revents & (POLLERR | POLLHUP)) == 0, "a connection stands");
}

/// The door: connections of strangers, and of clients that know the secret and say what they like afterwards.
void FuzzAdmission(FuzzedDataProvider& input) {
  struct Client {
    UniqueFd fd;
    std::optional<FrameSeal> seal;
    bool proven = false;       // it may have passed the handshake
    std::size_t received = 0;  // bytes
  };
  const std::size_t challenge_bytes = EncodeMessage(ChallengeMessage{}).size();
  FuzzClock clock;
  const BootstrapOptions options = Options();
  const Hello hello = HelloOf(0);
  absl::StatusOr<Listener> listener = Listener::Bind("127.0.0.1", 0);
  Require(listener.ok(), "the system has a port");
  const SocketAddress address = ResolveAddress("127.0.0.1", listener->port())->front();
  Waiter waiter(-1, GoOn, clock);
  Admission admission(*listener, hello, options, waiter);
  std::vector<Client> clients;
  const auto connect = [&] {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Connect(fd, address);
    clients.push_back({.fd = std::move(fd), .seal = std::nullopt});
  };
  connect();
  for (bool open = true; open && input.remaining_bytes() > 0;) {
    Client& client = clients[input.ConsumeIntegralInRange<std::size_t>(0, clients.size() - 1)];
    const auto say = [&](const std::string& bytes) {
      (void)::send(client.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    };
    switch (input.ConsumeIntegralInRange(0, 7)) {
      case 0:
        if (clients.size() < 8) connect();
        break;
      case 1:
        client = Client{.fd = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), .seal = std::nullopt};
        break;
      case 2:
        clock.Advance(input.ConsumeIntegral<std::uint32_t>());
        break;
      case 3: {  // the nonces are no secret: they are what Options() makes of them
        Nonces nonces{.coordinator = MakeNonce(options.random), .member = AnyBytes<Nonce>(input)};
        say(EncodeMessage(AnswerMessage{.nonce = nonces.member, .proof = MemberProof(TheSecret(), nonces)}));
        client.seal.emplace(DeriveKeys(TheSecret(), nonces).member);
        client.proven = true;
        break;
      }
      default: {
        const std::string speech = AnySpeech(input);
        const bool sealed = !speech.empty() && client.seal.has_value() && input.ConsumeBool();
        say(sealed ? client.seal->Seal(speech) : speech);
      }
    }
    open = admission.Poll().ok();
    for (Client& each : clients) {
      char bytes[4096];
      const ssize_t got = ::recv(each.fd.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
      each.received += got > 0 ? static_cast<std::size_t>(got) : 0;
      Require(each.proven || each.received <= challenge_bytes, "strangers get the challenge and no more");
    }
  }
}

}  // namespace
}  // namespace glaive::rdma

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  switch (input.ConsumeIntegralInRange(0, 2)) {
    case 0:
      glaive::rdma::FuzzCoordinator(input);
      break;
    case 1:
      glaive::rdma::FuzzMember(input);
      break;
    default:
      glaive::rdma::FuzzAdmission(input);
  }
  return 0;
}
