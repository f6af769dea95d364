// Strong types for the things that are counted: nodes, executors and epochs.
//
// A node is one process; it runs T executors, each one thread. Executors are numbered across the whole run, node
// by node: executor id = node * T + index on the node.
//
//   auto next = ExecutorId{Value(id) + 1};
#pragma once

#include <cstdint>
#include <type_traits>

namespace glaive {

/// A process of the run, 0 .. nodes-1; node 0 coordinates.
enum class NodeId : std::uint32_t {};

/// An executor of the run, 0 .. nodes*T-1. state/index/leaders.h says which keys it leads.
enum class ExecutorId : std::uint32_t {};

/// An executor's epoch; the first is 1, so that 0 means "none yet".
enum class EpochId : std::uint64_t {};

/// The number behind a strong id.
template <typename Id>
  requires std::is_enum_v<Id>
constexpr auto Value(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace glaive
