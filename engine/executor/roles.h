// Roles: which executors of a run read the sources, and which lead keys.
//
//   Slash    each executor reads its part of the sources, updates its own state, and leads a part of the keys
//   fed      the first half of each group of executors, such as the first of two nodes, reads the sources. Each of its
//            executors streams all records to one of the second half, which works as in Slash (paper section 8.3.2)
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
#include <optional>

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "state/index/leaders.h"

namespace glaive::engine {

class Roles {
 public:
  /// Of Slash.
  explicit Roles(std::uint32_t executor_count) : Roles(state::Leaders(executor_count), Kind::kSlash) {}
  /// Of Slash whose records come from other executors: of each `group` executors in a row, an even number, half.
  static Roles Fed(std::uint32_t executor_count, std::uint32_t group) {
    GLAIVE_CHECK(group > 0 && group % 2 == 0, "half of each ", group, " executors read");
    return Roles(state::Leaders(executor_count, group, group / 2), Kind::kFed);
  }
  /// Of UpPar: of each `group` executors in a row so many partition, fewer than all and at least one.
  static Roles Partitioned(std::uint32_t executor_count, std::uint32_t group, std::uint32_t partitioners) {
    GLAIVE_CHECK(partitioners > 0 && partitioners < group, partitioners, " partitioners of each ", group, " executors");
    return Roles(state::Leaders(executor_count, group, group - partitioners), Kind::kUpPar);
  }

  const state::Leaders& leaders() const { return leaders_; }
  std::uint32_t executor_count() const { return leaders_.executor_count(); }
  /// Whether each executor reads, and leads keys.
  bool all_read() const { return kind_ == Kind::kSlash; }
  /// Whether records move to the leaders of their keys one by one, whatever their keys are.
  bool partitions() const { return kind_ == Kind::kUpPar; }
  /// Whether executors that read stream their records to others.
  bool feeds() const { return kind_ == Kind::kFed; }
  /// The executor that a feeder, which reads, streams its records to, and the other way round; where feeds().
  ExecutorId FedBy(ExecutorId feeder) const { return leaders_.executor(ReaderOf(feeder)); }
  ExecutorId FeederOf(ExecutorId fed) const { return reader(leaders_.PlaceOf(fed)); }

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
  std::uint32_t reader_count() const { return executor_count() - (all_read() ? 0 : leaders_.count()); }
  bool Reads(ExecutorId executor) const { return all_read() || !leaders_.Leads(executor); }
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
    return all_read() ? ExecutorId{number} : leaders_.executor(leaders_.count() + number);
  }
  /// The number of an executor that reads, among those that do.
  std::uint32_t ReaderOf(ExecutorId executor) const {
    return all_read() ? Value(executor) : leaders_.PlaceOf(executor) - leaders_.count();
  }

  /// The number of the reader whose records the executor processes as its own flow: itself, or its feeder. None of an
  /// executor that no source's records reach but by an exchange.
  std::optional<std::uint32_t> FlowOf(ExecutorId executor) const {
    const bool has_flow = Reads(executor) != feeds();
    return !has_flow ? std::nullopt : std::optional(feeds() ? leaders_.PlaceOf(executor) : ReaderOf(executor));
  }

 private:
  enum class Kind : std::uint8_t { kSlash, kFed, kUpPar };

  Roles(const state::Leaders& leaders, Kind kind) : leaders_(leaders), kind_(kind) {}

  state::Leaders leaders_;
  Kind kind_;
};

}  // namespace glaive::engine
