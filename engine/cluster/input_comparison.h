// CompareInputs: whether all nodes of a run read the same input, which each of them finds for itself: files by their
// paths and sizes, tables by what they say. Else rows would be missing, or be there twice.
//
// Checksums travel, and the lists themselves only where these differ.
//
//   absl::Status status = CompareInputs(plane, query.compared_inputs());
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"

#include "engine/source/compared_input.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

/// Collective, unless there is nothing to compare, which is then so at all nodes. FailedPrecondition names the first
/// difference between rank 0 and another, the same one at all nodes.
absl::Status CompareInputs(rdma::ControlPlane& plane, std::span<const ComparedInput> mine);

/// A node's inputs as it tells them to the others.
std::string EncodeInputs(std::span<const ComparedInput> inputs);

/// The difference among the encoded inputs of all nodes, by rank, for CompareInputs. OK without one; Internal if a
/// node's are no such inputs.
absl::Status FindDifference(std::span<const std::string> nodes);

}  // namespace glaive::engine
