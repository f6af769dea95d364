// Meeting: how the ends of a benchmark come together, and their control plane.
//
// There is one receiver, rank 0, and one or more senders, ranks 1, 2, ... Without --listen and --connect they are
// processes of this host, which Meet forks. With them each is started by hand, on any host: the receiver with --listen,
// each sender with --connect. All need the same other flags; the receiver refuses one that differs by its name.
//
// When an end is lost, or fails, the others end within a few seconds, whatever they are busy with.
//
//   MeetingFlags flags;
//   AddMeetingFlags(app, flags);
//   Meeting meeting = OrDie(Meet("channel", flags, {{"slots", "65536"}}));   // in each process
//   return meeting.plane->rank() == NodeId{0} ? Lead(*meeting.plane) : Follow(*meeting.plane);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/steady_clock.h"
#include "rdma/bootstrap/control_plane.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace glaive::bench {

inline constexpr std::uint32_t kMaxSenders = 64;

/// Where the ends are.
struct MeetingFlags {
  std::string listen;         ///< the receiver's "host:port", at the receiver
  std::string connect;        ///< the same, at a sender
  std::uint32_t senders = 1;  ///< of the whole benchmark
  std::uint32_t sender = 1;   ///< which of them, from 1; with `connect`
  double join_timeout_seconds = 60;
  std::string secret_file;

  /// Whether each end is started by hand.
  bool by_hand() const { return !listen.empty() || !connect.empty(); }
};

/// --listen, --connect, --incast, --sender, --join-timeout and --secret-file. They refuse each other where they do not
/// go together.
void AddMeetingFlags(CLI::App& app, MeetingFlags& flags);

/// An end that has met the others. The clock is the plane's.
struct Meeting {
  std::unique_ptr<SteadyClock> clock;
  std::unique_ptr<rdma::ControlPlane> plane;
};

/// Brings the ends together; nothing of verbs may be open yet. Where they are all on this host it forks, and returns in
/// each of the processes, which end with this one. `settings` are the flags that have to be the same at all ends, by
/// name. After an end is lost the process ends with `exit_code`. The errors are those of ControlPlane::Coordinate and
/// Join, InvalidArgument without a secret.
absl::StatusOr<Meeting> Meet(const std::string& program, const MeetingFlags& flags,
                             std::map<std::string, std::string> settings, int exit_code = 1);

}  // namespace glaive::bench
