// ChooseSecret: where a node has the run's secret from (rdma/bootstrap/secret.h).
//
// Called by the main thread of each node before it meets the others. Reads a file or the environment.
//
//   absl::StatusOr<rdma::Secret> secret = ChooseSecret(options.cluster, random);
//   launcher.Start(argc, argv, nodes, address, {{kSecretVariable, secret->text()}});
#pragma once

#include "absl/status/statusor.h"

#include "engine/flags/engine_options.h"
#include "rdma/base/random_bytes.h"
#include "rdma/bootstrap/secret.h"

namespace glaive::engine {

/// The environment variable that may hold the secret, and by which a launcher hands it to the nodes it starts. Other
/// users of the host cannot read it (/proc/<pid>/environ), unlike a command line.
inline constexpr char kSecretVariable[] = "GLAIVE_SECRET";

/// --secret-file, else $GLAIVE_SECRET, else one made here where nobody else has to know it beforehand.
/// kInvalidArgument: the nodes are started by hand and there is none, it is too short, or the file can be read by other
/// users.
absl::StatusOr<rdma::Secret> ChooseSecret(const ClusterOptions& cluster, const RandomBytes& random);

}  // namespace glaive::engine
