// JoinRun: lets a member join a run: the handshake with the coordinator, the member's Hello, and the wait for the
// others.
//
// Used by MemberPlane::Join; blocks, single-threaded.
//
//   absl::StatusOr<WelcomeMessage> welcome = JoinRun(connection, "node-a:7700", hello, options, deadline_ns, waiter);
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/bootstrap/connection.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/message.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

/// Says nothing of the run before the coordinator has proved to know the secret. `address` is for messages. Errors:
/// kUnauthenticated when the coordinator has closed the connection without accepting this node's proof, which may have
/// been for want of room: try again; kDeadlineExceeded when it has not by `deadline_ns`; kFailedPrecondition when what
/// answers is no coordinator or the nodes do not match; kUnavailable when the coordinator was lost; kDeadlineExceeded
/// when the others did not come; kInvalidArgument when `hello` is too long; or what ended the wait.
absl::StatusOr<WelcomeMessage> JoinRun(Connection& connection, const std::string& address, const Hello& hello,
                                       const BootstrapOptions& options, std::int64_t deadline_ns, Waiter& waiter);

}  // namespace glaive::rdma
