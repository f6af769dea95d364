// ConnectFailures: the error of the last attempt to connect to each node, for the messages to a user who waits.
//
// The connectors of all executors of a node share one, which their VerbsDevice owns. Any thread may use it.
//
//   failures.Note(NodeId{1}, absl::UnavailableError("no route"));
//   Tell(absl::StrCat("waits for node 1; the last attempt failed: ", failures.LastOf(NodeId{1})));
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"

#include "rdma/base/ids.h"

namespace glaive::rdma {

/// What to do where nodes find no way to each other, behind a message.
inline constexpr char kOneNetwork[] =
    "both addresses must be in one RDMA network: try rping between them, or choose others with --bind or --device";

/// See the head of this file.
class ConnectFailures {
 public:
  void Note(NodeId node, const absl::Status& reason) {
    const std::lock_guard lock(mutex_);
    by_node_[node] = std::string(reason.message());
  }

  /// A connection to the node stands.
  void Forget(NodeId node) {
    const std::lock_guard lock(mutex_);
    by_node_.erase(node);
  }

  /// Empty if no attempt to connect to the node has failed.
  std::string LastOf(NodeId node) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_node_.find(node);
    return found == by_node_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<NodeId, std::string> by_node_;  // guarded by mutex_
};

}  // namespace glaive::rdma
