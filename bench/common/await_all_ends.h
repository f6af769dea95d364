// AwaitAllEnds: how an end of a benchmark over verbs waits until the connections of all ends stand.
//
// Over iWARP the listening end of a connection stands first: the attempt of the connecting end may still fail, and come
// again. So each end polls its connections until all ends have theirs.
//
//   OrDie(AwaitAllEnds(plane, [&] { return PollMeshes(meshes); }));   // at every end
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bench/common/spin.h"
#include "rdma/base/watch.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::bench {

/// `poll` polls the connections of this end: whether all of them stand. Collective.
inline absl::Status AwaitAllEnds(rdma::ControlPlane& plane, const std::function<absl::StatusOr<bool>()>& poll) {
  absl::Status failure;
  const auto await = [&] {
    SpinUntil(
        [&] {
          const absl::StatusOr<bool> all_stand = poll();
          failure = all_stand.status();
          return !all_stand.ok() || *all_stand;
        },
        kFabricSpins);
    return failure;
  };
  absl::Status status = await();
  if (!status.ok()) return status;
  plane.WatchAlso([&poll] { return poll().status(); });
  status = plane.AllGather("connected", "").status();
  plane.WatchAlso(GoOn);
  return status.ok() ? await() : status;
}

}  // namespace glaive::bench
