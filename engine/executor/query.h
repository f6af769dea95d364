// Query: a finished query, ready to be run by any number of executors.
//
// `.To(sink)` returns it. It is immutable and shared by the executors of a process: each opens a QueryTask of its
// own. Every node of a run builds the same query from the same flags, so nothing about it is negotiated.
//
//   std::unique_ptr<Query> query = From(source).KeyBy(...).Window(...).Aggregate(...).To(sink);
//   absl::StatusOr<std::unique_ptr<QueryTask>> task = query->Open(context);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/roles.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "engine/files/result_part.h"
#include "engine/source/compared_input.h"

namespace glaive::engine {

/// One executor's part of a query. Used by its executor's thread; Commit by whoever ends the run.
class QueryTask {
 public:
  virtual ~QueryTask() = default;

  /// Adds the fibers that do the work. The task is done when all of them are.
  virtual absl::Status Spawn(Scheduler& scheduler) = 0;
  /// Brings the context's metrics up to date.
  virtual void Measure() = 0;
  /// Adds the files that Commit will make final.
  virtual void AddParts(std::vector<ResultPart>& parts) const = 0;
  /// Makes the results final, once every executor of the run has succeeded.
  virtual absl::Status Commit() = 0;
};

/// The sizes of the messages for an input of a query: of entries of a stage's deltas, or records of an exchange
/// or of a source that another executor reads.
struct InputShape {
  std::size_t entry_bytes = 0;   ///< of the largest of them, without what its texts refer to
  std::size_t header_bytes = 0;  ///< of an exchange's messages, whose records follow it; 0 for a stage
  bool has_texts = false;        ///< whether they have any
  bool from_one = false;         ///< of an exchange: whether an executor gets messages from one other alone

  bool is_exchange() const { return header_bytes > 0; }
};

class Query {
 public:
  virtual ~Query() = default;

  /// The inputs that executors of these roles send each other messages for, by their numbers.
  virtual std::vector<InputShape> inputs(const Roles& roles) const = 0;
  /// The inputs that each node reads for itself, such as files. A name comes again where two sources read one file.
  virtual std::vector<ComparedInput> compared_inputs() const { return {}; }
  /// Bytes of memory that an executor's sources hold.
  virtual std::uint64_t source_memory_bytes() const = 0;
  /// Bytes of the static tables that the executors of a node share; they are there already.
  virtual std::uint64_t table_bytes() const = 0;
  /// The longest window that ends, ms, but no more than some slides of it: what the default of --max-lead is a multiple
  /// of. If no window ends, a time that no flow leads by.
  virtual std::int64_t window_ms() const = 0;

  /// The plan as text of several lines, in a run of these roles: what its vertices do, and what each edge carries.
  virtual std::string Explain(const Roles& roles) const = 0;

  /// Opens sources, state and sinks of an executor, on its own thread. `context` outlives the task.
  virtual absl::StatusOr<std::unique_ptr<QueryTask>> Open(TaskContext& context) const = 0;
};

}  // namespace glaive::engine
