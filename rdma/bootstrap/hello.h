// Hello: the first message of a node to the coordinator, and the comparison that decides whether the node may take
// part.
//
// Every node of a run has to be the same program, built from the same commit and started with the same shared flags:
// queries are graphs that each node builds for itself, so ids are never negotiated. The coordinator compares each Hello
// with its own and refuses a node that differs, naming the flag and both values.
//
// Plain values; no thread owns them. CheckHello is a pure function.
//
//   absl::Status verdict = CheckHello(mine, theirs);   // "rank 2 was started with --slot-bytes=32KiB but ..."
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"

namespace glaive::rdma {

/// Version of the bootstrap protocol. Raise it with every change of a frame's meaning.
inline constexpr std::uint32_t kBootstrapProtocolVersion = 3;

/// What a node says of itself.
struct Hello {
  std::uint32_t protocol_version = kBootstrapProtocolVersion;
  std::string program;                          ///< the query's name, e.g. "ysb"
  std::string commit;                           ///< the commit the binary was built from
  NodeId rank{0};                               ///< 0 .. nodes-1; 0 is the coordinator
  std::uint32_t nodes = 1;                      ///< --nodes
  std::uint32_t executors_per_node = 1;         ///< --executors
  std::string host_id;                          ///< see ThisHostId(); differs between hosts, and that is allowed
  std::int64_t pid = 0;                         ///< process id within its host's pid namespace; for messages
  std::map<std::string, std::string> settings;  ///< shared flags without dashes: {"slot-bytes", "64KiB"}
};

/// A node as all the others know it once the run has begun.
struct Member {
  NodeId rank{0};
  std::string host_id;
  std::int64_t pid = 0;
};

Member MemberOf(const Hello& hello);

/// How messages call it: "node 2 (process 4711)".
std::string NodeName(const Member& member);

/// Whether `theirs` may join the run of `mine` (the coordinator's). kFailedPrecondition names the first difference
/// and says what to do. Duplicate ranks are the coordinator's business, not seen here.
absl::Status CheckHello(const Hello& mine, const Hello& theirs);

/// Identifies the host as far as shared memory reaches: kernel boot id and pid namespace. Two processes with the
/// same id can open each other's /proc/<pid>/fd. Fails where /proc is not mounted.
absl::StatusOr<std::string> ThisHostId();

}  // namespace glaive::rdma
