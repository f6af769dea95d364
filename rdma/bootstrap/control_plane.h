// ControlPlane: the TCP connections by which a run's nodes meet, exchange set-up data, and notice each other's end. It
// is a star: rank 0 coordinates, and every other rank has one connection to it.
//
// Owned by the node's main thread, from set-up to the end of the run; executors never touch it. It is the one part of
// rdma/ that may block: Coordinate, Join, AllGather, AllAgree, Abort and Leave wait in poll(2), each with a deadline or
// until a failure ends it. PollFailure never blocks and costs one system call. A thread of its own (attended_plane.h)
// sends signs of life while the main thread is busy.
//
//   1. No node returns from Coordinate or Join before every rank has been accepted.
//   2. AllGather and AllAgree are collective: every rank calls them with the same phases in the same order.
//   3. A failure is final: once PollFailure or AllGather has reported one, every later call reports the same. But a
//      member's AllGather whose parts have all come succeeds, even if a failure comes behind them: the next call
//      reports it.
//   4. The coordinator passes the first failure that it receives or notices (a lost node, an Abort) on to every other
//      node.
//   5. A closed connection is the death of its node unless that node called Leave before.
//
// Failures by code: kUnavailable a node was lost, or left early; kUnauthenticated the coordinator did not let this node
// in; kFailedPrecondition the nodes do not match; kDeadlineExceeded a node did not come in time; kCancelled the
// interrupt descriptor became readable (Ctrl-C); kInvalidArgument an address that cannot be used; an Abort keeps the
// code it was given.
//
// A node that is stopped (SIGSTOP), or whose host has failed, falls silent with its connection open. It is lost after
// BootstrapOptions::peer_timeout. A node that is merely busy goes on sending signs of life.
//
// Nothing is sent to a peer before it has proved to know the run's secret (handshake.h).
//
//   auto listener = Listener::Bind("127.0.0.1", 0);
//   BootstrapOptions options{.secret = secret, .random = random};
//   auto plane = ControlPlane::Coordinate(*std::move(listener), hello, run_token, options, clock);
//   auto all = (*plane)->AllGather("regions", Encode(my_regions));     // every rank's, by rank
//   ... run; now and then:  if (auto failure = (*plane)->PollFailure()) return *failure;
//   (*plane)->Leave(absl::Seconds(2));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/base/random_bytes.h"
#include "rdma/base/watch.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/listener.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/bootstrap/secret.h"

namespace glaive::rdma {

/// The most bytes one rank may contribute to one AllGather.
inline constexpr std::size_t kMaxGatherBytes = std::size_t{16} << 20;

/// Who may take part, and how to wait.
struct BootstrapOptions {
  /// The run's; every other connection is turned away.
  Secret secret;
  RandomBytes random;
  /// How long Coordinate waits for the others, and Join for the coordinator.
  absl::Duration join_timeout = absl::Seconds(60);
  /// The silence of a node that means its death; the same at all nodes.
  absl::Duration peer_timeout = absl::Seconds(5);
  /// A descriptor that becomes readable when the user wants to stop (see engine/cluster/interrupt.h); -1: none.
  /// It is only polled, never read, and stays readable for as long as the plane exists.
  int interrupt_fd = -1;
  /// Called about every 50 ms while a call blocks, except in Abort and Leave; an error ends the wait with that error.
  /// For example: "a node that this process started has already exited".
  Watch watch = GoOn;
  /// Told of whom a wait is for when it takes seconds, and of connections that were turned away, at most about once a
  /// second; may be empty.
  std::function<void(const std::string&)> log = nullptr;
  /// Called by another thread when a failure is known, or the interrupt descriptor has been readable, and the plane
  /// still exists kFailureGrace later: whatever the main thread is busy with, the process should end now. May be empty.
  /// A failure and an interrupt have a call each; if it returns false, the call comes again a moment later.
  std::function<bool(const absl::Status&)> overdue = nullptr;
};

/// The time that a node has for an orderly end once a failure is known. This time, two polls of AttendedPlane's thread
/// and the time for the last words stay below 1.5 s (docs/operations.md), also on a busy machine.
inline constexpr absl::Duration kFailureGrace = absl::Milliseconds(1000);

/// The status of calls that end because BootstrapOptions::interrupt_fd is readable: a kCancelled.
absl::Status Interrupted();
/// Whether a call has ended with that. Takes no memory.
bool IsInterrupted(const absl::Status& status);

class ControlPlane {
 public:
  /// The coordinator's side: waits at `listener` for ranks 1 .. hello.nodes-1 and checks each. `run_token` is handed to
  /// every member. A member that does not match ends the start for everybody, with the difference named to everybody.
  /// Connections that are no glaive nodes are dropped and do no harm. `clock` must outlive the result.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Coordinate(Listener listener, const Hello& hello,
                                                                  std::uint64_t run_token,
                                                                  const BootstrapOptions& options, const Clock& clock);

  /// A member's side: connects to "host:port", again and again until the coordinator is there or the time is up.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Join(const std::string& address, const Hello& hello,
                                                            const BootstrapOptions& options, const Clock& clock);

  /// A run of one node: no sockets, and AllGather returns at once what it is given. ResourceExhausted when the thread
  /// that polls for interrupts cannot be had. `clock` must outlive the result.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Alone(const Hello& hello, std::uint64_t run_token,
                                                             const BootstrapOptions& options, const Clock& clock);

  /// Closes the connections. Without a Leave before, the others take it as this node's death.
  virtual ~ControlPlane() = default;
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  /// Every rank's contribution, indexed by rank, the same everywhere. Any bytes, at most kMaxGatherBytes each
  /// (kInvalidArgument). Blocks until all have contributed; `timeout` infinite: until a failure ends it. At the
  /// coordinator, kDeadlineExceeded names the ranks that are missing. After an error, call Abort to tell the others.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine,
                                                             absl::Duration timeout) = 0;
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine) {
    return AllGather(phase, std::move(mine), absl::InfiniteDuration());
  }

  /// Whether all nodes have come to `phase`, as rank 0 decides: the decision is the same at every node that learns of
  /// it. Collective like AllGather. An interrupt, or a watch's error, makes rank 0 decide against it, unless it has
  /// decided already: a member asks for that and goes on waiting. Only a failure of the plane ends a member's wait.
  virtual absl::Status AllAgree(std::string_view phase) = 0;

  /// From now on calls that block ask `watch` as well as BootstrapOptions::watch, and end with its error, too: an error
  /// of that call alone. It must not call the plane. GoOn: no more.
  virtual void WatchAlso(Watch watch) = 0;

  /// Mid-run: what ended the run, if anything did. Never blocks. It polls the connections, and not the interrupt
  /// descriptor. At the coordinator this also passes failures on to the members.
  virtual std::optional<absl::Status> PollFailure() = 0;

  /// Tells every node that the run is over and why (`reason` is not OK). Best effort, at most about a second. Does
  /// nothing after a failure that the others know of already.
  virtual void Abort(const absl::Status& reason) = 0;

  /// The orderly end: from here on, closing the connection is no death. Waits until the other side has left too, at
  /// most `grace`. An error means that the run failed for somebody while this node was leaving.
  virtual absl::Status Leave(absl::Duration grace) = 0;

  NodeId rank() const { return rank_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(members_.size()); }
  /// The coordinator's token, the same at every node of the run.
  std::uint64_t run_token() const { return run_token_; }
  /// What this node has derived from the run's secret and the token; the same at every node.
  const RunKey& run_key() const { return run_key_; }
  /// This host's end of a connection to another node, the coordinator's at a member: a numeric host. Empty: there is
  /// none.
  const std::string& local_address() const { return local_address_; }
  /// By rank, this node included.
  const std::vector<Member>& members() const { return members_; }
  /// Whether all nodes can map each other's memory (same host id).
  bool one_host() const;

 protected:
  ControlPlane(NodeId rank, std::uint64_t run_token, const RunKey& run_key, std::vector<Member> members,
               std::string local_address = "")
      : rank_(rank),
        run_token_(run_token),
        run_key_(run_key),
        members_(std::move(members)),
        local_address_(std::move(local_address)) {}

 private:
  NodeId rank_;
  std::uint64_t run_token_;
  RunKey run_key_;
  std::vector<Member> members_;
  std::string local_address_;
};

}  // namespace glaive::rdma
