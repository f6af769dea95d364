// Dial: connects a member to the coordinator, which may be started later than the member.
//
// Used by ControlPlane::Join; blocks, single-threaded.
//
//   absl::StatusOr<std::unique_ptr<Connection>> connection = Dial("node-a:7700", absl::Seconds(60), log, waiter);
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/connection.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

/// Connects to "host:port", several times a second until it works or `timeout` has passed. Errors: kInvalidArgument
/// for an address that cannot be right, such as one of a family that this host does not have, kDeadlineExceeded with
/// the last attempt's error, or what ended the wait. `log`, if any, is told of a wait that takes seconds.
absl::StatusOr<std::unique_ptr<Connection>> Dial(const std::string& address, absl::Duration timeout,
                                                 const std::function<void(const std::string&)>& log, Waiter& waiter);

}  // namespace glaive::rdma
