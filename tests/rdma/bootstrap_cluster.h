// BootstrapCluster: the control planes of all nodes of a run, each on a thread of one process, a client that does not
// keep to the protocol, and one that knows the secret and need not keep to the rest of it.
//
// Used by one test body; the threads end before any method returns.
//
//   auto planes = StartCluster(3, {});
//   OnEveryNode(planes, [](ControlPlane& plane) { ... });
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "rdma/base/address.h"
#include "rdma/base/clock.h"
#include "rdma/base/steady_clock.h"
#include "rdma/base/unique_fd.h"
#include "rdma/bootstrap/connection.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/handshake.h"
#include "rdma/bootstrap/message.h"
#include "tests/rdma/hand_clock.h"

namespace glaive::rdma {

using Planes = std::vector<std::unique_ptr<ControlPlane>>;
using PlaneOr = absl::StatusOr<std::unique_ptr<ControlPlane>>;

inline constexpr std::uint64_t kRunToken = 0x0123456789abcdef;

inline Hello HelloOf(std::uint32_t rank, std::uint32_t nodes) {
  return {.program = "test",
          .commit = "abc",
          .rank = NodeId{rank},
          .nodes = nodes,
          .executors_per_node = 1,
          .host_id = "host",
          .pid = 1000 + rank,
          .settings = {{"slot-bytes", "64KiB"}}};
}

inline void FillRandomly(std::span<std::uint8_t> out) {
  std::random_device entropy;
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(entropy());
}

inline Secret SecretOf(char letter = 's') { return *Secret::FromText(std::string(kMinSecretCharacters, letter)); }

inline BootstrapOptions Patience(absl::Duration join_timeout = absl::Seconds(30)) {
  return {.secret = SecretOf(), .random = FillRandomly, .join_timeout = join_timeout};
}

inline Listener BindAnywhere() {
  auto listener = Listener::Bind("127.0.0.1", 0);
  EXPECT_TRUE(listener.ok()) << listener.status();
  return *std::move(listener);
}

/// A start of rank 0, on a thread of its own, and where it listens.
struct LateCoordinator {
  std::string address;
  std::future<PlaneOr> plane;
};

inline LateCoordinator CoordinateLater(std::uint32_t nodes, const Clock& clock,
                                       const BootstrapOptions& options = Patience()) {
  Listener listener = BindAnywhere();
  std::string address = listener.address();
  return {.address = std::move(address),
          .plane = std::async(std::launch::async, [listener = std::move(listener), nodes, &clock, options]() mutable {
            return ControlPlane::Coordinate(std::move(listener), HelloOf(0, nodes), kRunToken, options, clock);
          })};
}

/// Starts rank 0 with `hellos[0]` and the members with the others at the same time; the results by rank.
inline std::vector<PlaneOr> StartNodes(const std::vector<Hello>& hellos, const Clock& clock,
                                       const BootstrapOptions& options) {
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  std::vector<std::future<PlaneOr>> members;
  for (std::size_t i = 1; i < hellos.size(); ++i) {
    members.push_back(std::async(std::launch::async,
                                 [&, i] { return PlaneOr(ControlPlane::Join(address, hellos[i], options, clock)); }));
  }
  std::vector<PlaneOr> results;
  results.push_back(ControlPlane::Coordinate(std::move(listener), hellos[0], kRunToken, options, clock));
  for (auto& member : members) results.push_back(member.get());
  return results;
}

/// A whole run that has begun.
inline Planes StartCluster(std::uint32_t nodes, const Clock& clock, const BootstrapOptions& options = Patience()) {
  std::vector<Hello> hellos;
  for (std::uint32_t rank = 0; rank < nodes; ++rank) hellos.push_back(HelloOf(rank, nodes));
  Planes planes;
  for (PlaneOr& result : StartNodes(hellos, clock, options)) {
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) planes.push_back(*std::move(result));
  }
  return planes;
}

/// Calls `body` for every node, each on its own thread, and waits for all.
inline void OnEveryNode(Planes& planes, const std::function<void(ControlPlane&)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(planes.size());
  for (auto& plane : planes) threads.emplace_back([&body, &plane] { body(*plane); });
  for (std::thread& thread : threads) thread.join();
}

/// Polls until the plane has failed; the test's own time limit is the end of patience.
inline absl::Status AwaitFailure(ControlPlane& plane) {
  while (true) {
    if (std::optional<absl::Status> failure = plane.PollFailure()) return *failure;
    std::this_thread::yield();
  }
}

/// A TCP client without manners.
class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    const HostPort where = ParseHostPort(address).value();
    const SocketAddress target = ResolveAddress(where.host, where.port)->front();
    fd_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&target.storage), target.length), 0);
  }

  void Send(const std::string& bytes) {
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// What it would be without this class.
  UniqueFd TakeDescriptor() { return std::move(fd_); }

  /// Everything the other side sends until it closes.
  std::string ReadToEnd() {
    std::string all;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::recv(fd_.get(), chunk, sizeof(chunk), 0)) > 0;) {
      all.append(chunk, static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  UniqueFd fd_;
};

/// A member that knows the secret, and says what it likes.
class InsideClient {
 public:
  /// Passes the handshake with the coordinator at `address`, which has to be waiting.
  explicit InsideClient(const std::string& address) : InsideClient(RawClient(address).TakeDescriptor()) {}
  /// The same over a connection that is there already.
  explicit InsideClient(UniqueFd descriptor) : connection_(std::move(descriptor), "coordinator", kMemberLimits) {
    const Secret secret = SecretOf();
    const auto challenge = std::get<ChallengeMessage>(Await());
    const Nonces nonces{.coordinator = challenge.nonce, .member = MakeNonce(FillRandomly)};
    Send(AnswerMessage{.nonce = nonces.member, .proof = MemberProof(secret, nonces)});
    const auto accept = std::get<AcceptMessage>(Await());
    EXPECT_EQ(accept.proof, CoordinatorProof(secret, nonces));
    const SessionKeys keys = DeriveKeys(secret, nonces);
    connection_.Seal(keys.member, keys.coordinator);
  }

  void Send(const ControlMessage& message) { connection_.Send(EncodeMessage(message)); }
  /// Any bytes, as if they were a frame.
  void SendBytes(const std::string& bytes) { connection_.Send(bytes); }

 private:
  ControlMessage Await() {
    while (true) {
      connection_.Receive();
      auto message = connection_.Next();
      EXPECT_TRUE(message.ok()) << message.status();
      if (message->has_value()) return **std::move(message);
      EXPECT_FALSE(connection_.ended()) << connection_.end_reason();
      std::this_thread::yield();
    }
  }

  Connection connection_;
};

}  // namespace glaive::rdma
