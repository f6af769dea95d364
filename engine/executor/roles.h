// Roles: which executors of a run read the sources, and which lead keys.
//
//   Slash    each executor reads its part of the sources, updates its own state, and leads a part of the keys
//   UpPar    of each group of executors, such as those of a node, the first read and partition: they send each record,
//            filtered and projected, to the leader of its key. The last ones lead all keys, and read nothing (paper
//            section 8.1.1). State that does not move, as of a join with a stream of all executors, stays where it is
//
// A pure value; all nodes have the same.
//
//   const Roles roles = Roles::Partitioned(executor_count, executors_per_node, partitioners_per_node);
//   if (roles.Reads(self)) { open the source of reader roles.ReaderOf(self) of roles.reader_count() }
#pragma once

#include <cstdint>

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "state/index/leaders.h"

namespace glaive::engine {

class Roles {
 public:
  /// Of Slash.
  explicit Roles(std::uint32_t executor_count) : Roles(state::Leaders(executor_count), /*partitions=*/false) {}
  /// Of UpPar: of each `group` executors in a row so many partition, fewer than all and at least one.
  static Roles Partitioned(std::uint32_t executor_count, std::uint32_t group, std::uint32_t partitioners) {
    GLAIVE_CHECK(partitioners > 0 && partitioners < group, partitioners, " partitioners of each ", group, " executors");
    return Roles(state::Leaders(executor_count, group, group - partitioners), /*partitions=*/true);
  }

  const state::Leaders& leaders() const { return leaders_; }
  std::uint32_t executor_count() const { return leaders_.executor_count(); }
  /// Whether records move to the leaders of their keys one by one, whatever their keys are.
  bool partitions() const { return partitions_; }

  /// Executors of each group of Partitioned: those of a node, or all of the run if a node has but one.
  static std::uint32_t GroupOf(std::uint32_t nodes, std::uint32_t executors) {
    return executors > 1 ? executors : nodes;
  }
  /// Of `nodes` of some `executors`: of UpPar with so many partitioners in each group, or of Slash without any.
  static Roles Of(std::uint32_t nodes, std::uint32_t executors, std::uint32_t partitioners) {
    return partitioners == 0 ? Roles(nodes * executors)
                             : Partitioned(nodes * executors, GroupOf(nodes, executors), partitioners);
  }

  /// Executors that read the sources.
  std::uint32_t reader_count() const { return executor_count() - (partitions_ ? leaders_.count() : 0); }
  bool Reads(ExecutorId executor) const { return !partitions_ || !leaders_.Leads(executor); }
  /// How many of `count` executors in a row read, from `first` on.
  std::uint32_t ReadersAmong(ExecutorId first, std::uint32_t count) const {
    std::uint32_t readers = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      readers += Reads(ExecutorId{Value(first) + i}) ? 1 : 0;
    }
    return readers;
  }
  /// The reader of this number.
  ExecutorId reader(std::uint32_t number) const {
    return partitions_ ? leaders_.executor(leaders_.count() + number) : ExecutorId{number};
  }
  /// The number of an executor that reads, among those that do.
  std::uint32_t ReaderOf(ExecutorId executor) const {
    return partitions_ ? leaders_.PlaceOf(executor) - leaders_.count() : Value(executor);
  }

 private:
  Roles(const state::Leaders& leaders, bool partitions) : leaders_(leaders), partitions_(partitions) {}

  state::Leaders leaders_;
  bool partitions_;
};

}  // namespace glaive::engine
