// The verdict on a simulated run: whether it ended as it must.
//
// Without a fault that a run cannot survive: every node ends well, and what is published is what a sequential run
// shows. With one: all survivors end well and everything is published; or all of them end with an error that names who
// or what it was, in time, and none of them leaves anything published, or where results are published while a run goes
// on, nothing that a sequential run does not show. After two such faults an error may name either.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tests/sim/oracle.h"
#include "tests/sim/row_store.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {

/// What became of a node.
struct NodeFacts {
  bool was_killed = false;
  std::optional<absl::Status> ended;
  std::int64_t ended_ns = 0;
  StoredRows published;
  std::size_t parts = 0;  ///< sinks that had published
  bool gave_up = false;   ///< its results, before it was killed
};

/// What became of a fault.
struct FaultFacts {
  bool has_struck = false;
  std::int64_t struck_ns = 0;
};

struct RunFacts {
  std::array<FaultFacts, kMostFaults> faults;  ///< in the scenario's order
  std::vector<NodeFacts> nodes;
};

struct Verdict {
  std::string problem;  ///< empty: all is as it must be
  bool has_failed = false;
};

Verdict Judge(const Scenario& scenario, const RunFacts& facts, const Expected& expected);

}  // namespace glaive::sim
