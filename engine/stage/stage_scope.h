// StageScope: on which executors a stage finds records that belong together.
//
//   kAllExecutors   on any: each executor sends the changes that it makes to the leaders of the keys (late merge)
//   kOwnExecutor    on one, behind an exchange: its state stays there, as in a run of one executor, and fires by the
//                   watermarks of its own flows
//
//   StageProgress progress(windows, MembersOf(context, plan.scope).count);
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/executor/query.h"
#include "engine/executor/task_context.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

enum class StageScope : std::uint8_t { kAllExecutors, kOwnExecutor };

/// The executors that merge what each other have of a stage.
struct StageMembers {
  ExecutorId self{};  ///< this one's number among them
  std::uint32_t count = 1;
};

inline StageMembers MembersOf(const TaskContext& context, StageScope scope) {
  return scope == StageScope::kOwnExecutor ? StageMembers{}
                                           : StageMembers{.self = context.self, .count = context.executor_count};
}

/// As MembersOf: how many, in a run of `executors`.
inline std::uint32_t MergersOf(StageScope scope, std::uint32_t executors) {
  return scope == StageScope::kOwnExecutor ? 1 : executors;
}

/// The query's inputs of a stage that takes in `shapes`: those that executors send each other messages for.
inline std::vector<InputShape> InputsOf(StageScope scope, std::vector<InputShape> shapes) {
  return scope == StageScope::kOwnExecutor ? std::vector<InputShape>() : std::move(shapes);
}

}  // namespace glaive::engine
