// Leaders: the executors of a run that lead keys, and the numbers that they have among them.
//
// Usually each executor leads. In a run that re-partitions its records, the last executors of each group lead, and the
// others read (engine/executor/roles.h):
//
//   executors   0 1 2 3 | 4 5 6 7     groups of 4, of which 2 lead
//   leaders         0 1       2 3
//
// A pure value; all nodes have the same.
//
//   const Leaders leaders(executor_count);
//   ExecutorId leader = leaders.executor(leaders.NumberOf(hash(key)));
#pragma once

#include <cstdint>

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "state/index/key_hash.h"

namespace glaive::state {

class Leaders {
 public:
  /// Each of `executor_count` executors.
  explicit Leaders(std::uint32_t executor_count) : Leaders(executor_count, 1, 1) {}
  /// Of each `group` executors in a row the last `leading`; the groups are complete.
  Leaders(std::uint32_t executor_count, std::uint32_t group, std::uint32_t leading)
      : executor_count_(executor_count),
        group_(group),
        leading_(leading),
        count_(group == 0 ? 0 : executor_count / group * leading) {
    GLAIVE_CHECK(count_ > 0 && leading <= group && executor_count % group == 0, "leaders are ", leading, " of each ",
                 group, " of ", executor_count, " executors");
  }

  std::uint32_t executor_count() const { return executor_count_; }
  std::uint32_t count() const { return count_; }
  bool Leads(ExecutorId executor) const { return Value(executor) % group_ >= group_ - leading_; }

  /// The number of the leader of the key with this hash.
  std::uint32_t NumberOf(std::uint64_t hash) const { return Value(LeaderOf(hash, count_)); }
  ExecutorId Of(std::uint64_t hash) const { return executor(NumberOf(hash)); }

  /// The executor at a place. The leaders' places are their numbers, and the other executors follow behind them.
  ExecutorId executor(std::uint32_t place) const {
    const std::uint32_t others = group_ - leading_;
    return place < count_ ? ExecutorId{place / leading_ * group_ + others + place % leading_}
                          : ExecutorId{(place - count_) / others * group_ + (place - count_) % others};
  }
  std::uint32_t PlaceOf(ExecutorId executor) const {
    const std::uint32_t others = group_ - leading_;
    const std::uint32_t group = Value(executor) / group_;
    const std::uint32_t in_group = Value(executor) % group_;
    return in_group >= others ? group * leading_ + in_group - others : count_ + group * others + in_group;
  }

 private:
  std::uint32_t executor_count_;
  std::uint32_t group_;
  std::uint32_t leading_;
  std::uint32_t count_;
};

}  // namespace glaive::state
