// CpuClaims: processors that this process has to itself among the Glaive runs of its host, so that executors of two
// runs are never pinned to the same one.
//
// A claim is a socket bound to the abstract Unix address "glaive-cpu-N", which only one process can have. It needs no
// folder and no rights, binds all users, and goes with the process, whatever that ends of. Abstract addresses belong to
// a network namespace: containers with networks of their own do not see each other's claims.
//
// Used by the node's main thread; held as long as its executors run.
//
//   CpuClaims claims;
//   absl::StatusOr<std::vector<int>> cpus = claims.Take(AllowedCpus(), 2);
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"

namespace glaive::engine {

class CpuClaims {
 public:
  /// The first `count` of `cpus` that no process has claimed, claimed until Release or the end of this object.
  /// ResourceExhausted if others have too many of them, FailedPrecondition if the system refuses a socket: then none is
  /// claimed.
  absl::StatusOr<std::vector<int>> Take(const std::vector<int>& cpus, std::size_t count);
  /// Gives all back.
  void Release() { sockets_.clear(); }

 private:
  std::vector<UniqueFd> sockets_;
};

}  // namespace glaive::engine
