// Routes: which executor gets a record of an exchange. Open makes the router of one executor; Describe says it to
// people, behind "each record moves".
//
//   auto router = ByKey{&Word::text}.Open<Word>(context);
//   router(word, [&](ExecutorId receiver) { ... });
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/executor/task_context.h"
#include "rdma/base/ids.h"
#include "state/index/leaders.h"

namespace glaive::engine {

/// To the executor that leads the record's key: the one that has the key's state in windows, too.
template <typename Key>
struct ByKey {
  Key key;

  std::string Describe() const { return "to the leader of its key"; }

  template <typename R>
  auto Open(const TaskContext& context) const {
    const state::Leaders leaders = context.roles.leaders();
    std::vector<ExecutorId> executors;  // by the leaders' numbers
    for (std::uint32_t number = 0; number < leaders.count(); ++number) {
      executors.push_back(leaders.executor(number));
    }
    return
        [key = &key, hash = context.memory->key_hash(), leaders, executors = std::move(executors)](
            const R& record, const auto& send) { send(executors[leaders.NumberOf(hash(std::invoke(*key, record)))]); };
  }
};

/// To the first `executors` in turn, one record each. 0: to all.
struct InTurn {
  std::uint32_t executors = 0;

  std::string Describe() const {
    return executors == 0   ? "to all executors in turn, one each"
           : executors == 1 ? "to executor 0"
                            : absl::StrCat("to the first ", executors, " executors in turn, one each");
  }

  template <typename R>
  auto Open(const TaskContext& context) const {
    const std::uint32_t count = executors == 0 ? context.executor_count : std::min(executors, context.executor_count);
    // Each executor begins with another one, so that short streams are spread as well.
    return [next = Value(context.self) % count, count](const R& /*record*/, const auto& send) mutable {
      send(ExecutorId{next});
      next = next + 1 == count ? 0 : next + 1;
    };
  }
};

/// To each executor.
struct ToAll {
  std::string Describe() const { return "to every executor"; }

  template <typename R>
  auto Open(const TaskContext& context) const {
    return [executors = context.executor_count](const R& /*record*/, const auto& send) {
      for (std::uint32_t receiver = 0; receiver < executors; ++receiver) {
        send(ExecutorId{receiver});
      }
    };
  }
};

}  // namespace glaive::engine
