// SimControlPlane: the control plane of a simulated node, and ControlWire: the connections between rank 0 and the
// others.
//
// It keeps the promises that rdma/bootstrap/control_plane.h makes, in virtual time: messages take a while and are in
// order on a connection, a closed connection is a death unless its node has said goodbye, and so is the silence of a
// node for longer than the time-out, as far as the observer itself was awake.
//
//   ControlWire wire(nodes, time, random);
//   SimControlPlane plane(wire, rank, members, waiter);      // in the fiber of that node's main thread
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/bootstrap/control_plane.h"
#include "tests/sim/random.h"
#include "tests/sim/virtual_time.h"

namespace glaive::sim {

struct ControlMessage {
  enum class Kind : std::uint8_t { kPart, kAll, kFailure, kGoodbye, kClosed };

  Kind kind = Kind::kPart;
  std::int64_t due_ns = 0;
  std::size_t index = 0;  // of the gather
  std::string phase{};
  std::vector<std::string> texts{};
  absl::Status status{};
};

class ControlWire {
 public:
  ControlWire(std::uint32_t nodes, const VirtualTime& time, Random random);

  /// To rank 0, or from it.
  void Send(std::uint32_t from, std::uint32_t to, ControlMessage message);
  /// The next message that has arrived, if one has.
  std::optional<ControlMessage> Receive(std::uint32_t from, std::uint32_t to);

  /// The process of `rank` is gone. `quietly`: its connections stay open.
  void Kill(std::uint32_t rank, bool quietly);
  void Hold(std::uint32_t a, std::uint32_t b, std::int64_t until_ns);
  void Stall(std::uint32_t rank, std::int64_t until_ns);

  /// How long `observer` has heard nothing of `peer`.
  std::int64_t SilentForNs(std::uint32_t observer, std::uint32_t peer) const;

 private:
  struct Connection {
    std::deque<ControlMessage> messages;
    std::int64_t last_due_ns = 0;
  };
  struct Span {
    std::int64_t from_ns = kNever;
    std::int64_t until_ns = 0;
    bool Holds(std::int64_t now_ns) const { return from_ns <= now_ns && now_ns < until_ns; }
    /// From now on, or since before if it goes on.
    void Extend(std::int64_t now_ns, std::int64_t to_ns) {
      from_ns = Holds(now_ns) ? from_ns : now_ns;
      until_ns = std::max(until_ns, to_ns);
    }
  };

  Span& HeldBetween(std::uint32_t a, std::uint32_t b) { return held_[a == 0 ? b : a]; }
  const Span& HeldBetween(std::uint32_t a, std::uint32_t b) const { return held_[a == 0 ? b : a]; }

  const VirtualTime* time_;
  Random random_;
  std::vector<Connection> to_coordinator_;
  std::vector<Connection> to_member_;
  std::vector<bool> is_dead_;
  std::vector<Span> quiet_;  // by rank: stalled, or gone without a word
  std::vector<Span> held_;   // by member
};

/// Suspends the node's main thread until a condition holds.
using WaitUntil = std::function<void(absl::FunctionRef<bool()>)>;

class SimControlPlane final : public rdma::ControlPlane {
 public:
  /// All that is passed in outlives the plane. `at_phase` is told of each AllGather before it begins.
  SimControlPlane(ControlWire& wire, const VirtualTime& time, NodeId rank, std::vector<rdma::Member> members,
                  std::uint64_t run_token, WaitUntil wait, std::function<void(std::string_view)> at_phase);
  ~SimControlPlane() override;

  using ControlPlane::AllGather;
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine,
                                                     absl::Duration timeout) override;
  absl::Status AllAgree(std::string_view phase) override { return AllGather(phase, "").status(); }
  void WatchAlso(Watch watch) override { watch_ = std::move(watch); }
  std::optional<absl::Status> PollFailure() override;
  void Abort(const absl::Status& reason) override;
  absl::Status Leave(absl::Duration grace) override;

 private:
  struct Gather {
    std::string phase;
    std::vector<std::string> parts;
    std::vector<bool> has_part;
    std::uint32_t missing = 0;
  };

  bool is_coordinator() const { return Value(rank()) == 0; }
  void Poll();
  void Take(std::uint32_t from, ControlMessage message);
  void TakePart(std::uint32_t from, const ControlMessage& message);
  void Distribute(std::size_t index);
  void Fail(const absl::Status& reason, std::optional<std::uint32_t> known_to);
  void Lose(std::uint32_t peer, std::string_view how);
  bool AllHaveLeft() const;

  ControlWire* wire_;
  const VirtualTime* time_;
  WaitUntil wait_;
  std::function<void(std::string_view)> at_phase_;
  Watch watch_ = GoOn;
  absl::Status failure_;
  std::size_t gathers_begun_ = 0;
  std::map<std::size_t, Gather> open_;                       // at the coordinator
  std::map<std::size_t, std::vector<std::string>> results_;  // that have come
  std::vector<bool> left_;                                   // by rank
};

}  // namespace glaive::sim
