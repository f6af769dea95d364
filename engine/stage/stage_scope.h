// StageScope: where a stage finds the records that belong together, and whose flows its windows wait for.
//
//                   records of a key        an executor's state             windows wait for the flows of
//   kAllExecutors   on any executor         merged at the leaders of keys   all executors
//   kOwnState       meet on each executor   stays there                     all executors
//   kOwnExecutor    on one executor         stays there                     this executor alone
//
// Behind an exchange by key, a stage is kOwnExecutor. Its flows come out of the exchange, whose watermark is the least
// of all senders'.
//
// A join is kOwnState if its right stream is copied to all executors, since its left flow comes out of no exchange. The
// markers of epochs carry the watermarks of other executors' flows. So an idle left flow follows these flows, and the
// windows of its executor fire.
//
//   StageProgress progress(windows, ProgressMembersOf(context, plan.scope).count);
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/executor/query.h"
#include "engine/executor/roles.h"
#include "engine/executor/task_context.h"
#include "rdma/base/ids.h"
#include "state/index/leaders.h"

namespace glaive::engine {

enum class StageScope : std::uint8_t { kAllExecutors, kOwnState, kOwnExecutor };

/// Executors that merge each other's state.
struct StateMembers {
  ExecutorId self{};  ///< this one's number among them
  state::Leaders leaders = state::Leaders(1);
};
inline StateMembers StateMembersOf(const TaskContext& context, StageScope scope) {
  return scope == StageScope::kAllExecutors ? StateMembers{.self = context.self, .leaders = context.roles.leaders()}
                                            : StateMembers{};
}

/// Executors that wait for each other's flows.
struct ProgressMembers {
  ExecutorId self{};  ///< this one's number among them
  std::uint32_t count = 1;
};
inline ProgressMembers ProgressMembersOf(const TaskContext& context, StageScope scope) {
  return scope != StageScope::kOwnExecutor ? ProgressMembers{.self = context.self, .count = context.executor_count}
                                           : ProgressMembers{};
}

/// The roles of the executors that merge each other's state, in a run of these roles.
inline Roles MergersOf(StageScope scope, const Roles& roles) {
  return scope == StageScope::kAllExecutors ? roles : Roles(1);
}

/// The query's inputs of a stage that takes in `shapes`: those that executors send each other messages for.
inline std::vector<InputShape> InputsOf(StageScope scope, std::vector<InputShape> shapes) {
  return scope == StageScope::kOwnExecutor ? std::vector<InputShape>() : std::move(shapes);
}

}  // namespace glaive::engine
