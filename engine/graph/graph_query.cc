#include "engine/graph/graph_query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/executor/shipper.h"
#include "engine/executor/task_context.h"
#include "engine/graph/message_receiver.h"
#include "engine/graph/open_graph.h"
#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

/// The length of windows that do not end. Some of it still fit 64 bits.
constexpr std::int64_t kNoWindowEndsMs = kMaxEventTimeMs / 16;

/// The most operators in a row, sinks aside, that run in the fiber of the producer before them. Each call lies on that
/// fiber's stack: of a batch, and below it of the turns that other consumers get while one waits. Flat maps and unions
/// take 1.5 KiB each where nothing is optimized, and with AddressSanitizer at most four times that, as its stacks do.
constexpr std::uint64_t kMostInARow = 64;
/// The most ways from a fiber to an operator: its producer asks along each of them whether a turn is wanted.
constexpr std::uint64_t kMostWays = 4096;

/// How the calls of fibers reach an operator.
struct Reach {
  std::uint64_t in_a_row = 0;  // operators between it and the furthest fiber, itself included
  std::uint64_t ways = 1;
};

class GraphTask final : public QueryTask {
 public:
  /// `input_count` is of the inputs that the vertices will have.
  GraphTask(TaskContext& context, std::uint32_t input_count)
      : context_(&context), shipper_(context, input_count), graph_(context, shipper_) {}

  /// Opens the operator of a vertex; vertices upstream first. See OpenGraph::BeginVertex.
  absl::Status Open(const Vertex& vertex, std::size_t part, bool reaches_sink) {
    graph_.BeginVertex(part, reaches_sink);
    absl::StatusOr<std::unique_ptr<Operator>> opened = vertex.Open(graph_);
    if (!opened.ok()) {
      return opened.status();
    }
    graph_.AddOpened(vertex, **opened);
    operators_.push_back(*std::move(opened));
    return absl::OkStatus();
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    absl::Status status;
    receiver_.emplace(*context_, graph_.inputs());
    status.Update(receiver_->Spawn(scheduler));
    status.Update(shipper_.Spawn(scheduler));
    for (const auto& each : operators_) {
      status.Update(each->Spawn(scheduler));
    }
    return status;
  }

  void Measure() override {
    context_->metrics->state_bytes = context_->memory->most_used_bytes();
    context_->metrics->touched_bytes = context_->memory->touched_bytes();
    for (const auto& each : operators_) {
      each->Measure();
    }
    shipper_.Measure();
  }

  void AddParts(std::vector<ResultPart>& parts) const override {
    for (const auto& each : operators_) {
      each->AddParts(parts);
    }
  }

  absl::Status Commit() override {
    absl::Status status;
    for (const auto& each : operators_) {
      status.Update(each->Commit());
    }
    return status;
  }

 private:
  TaskContext* context_;
  Shipper shipper_;
  OpenGraph graph_;
  std::optional<MessageReceiver> receiver_;           // once the inputs are known
  std::vector<std::unique_ptr<Operator>> operators_;  // each behind those upstream of it
};

}  // namespace

GraphQuery::GraphQuery(std::vector<std::shared_ptr<const Vertex>> sinks) : sinks_(std::move(sinks)) {
  GLAIVE_CHECK(!sinks_.empty(), "a query without a sink");
  // Inputs of stages come before sinks, also as consumers of the same stream: they do not wait for a sink's disk.
  for (const auto& sink : sinks_) {
    AddVerticesUpstream(*sink);
  }
  for (const auto& sink : sinks_) {
    if (!Has(*sink)) {
      vertices_.push_back(sink.get());
    }
  }
}

std::unique_ptr<GraphQuery> GraphQuery::Unite(std::span<const GraphQuery* const> queries) {
  std::vector<std::shared_ptr<const Vertex>> sinks;
  for (const GraphQuery* query : queries) {
    GLAIVE_CHECK(query != nullptr, "Together() has a query that was moved away");
    sinks.insert(sinks.end(), query->sinks_.begin(), query->sinks_.end());
  }
  return std::make_unique<GraphQuery>(std::move(sinks));
}

void GraphQuery::AddVerticesUpstream(const Vertex& vertex) {
  for (const Vertex* upstream : vertex.upstream()) {
    GLAIVE_CHECK(upstream != nullptr, "a query takes in a stream that was moved away: use a copy of it, or Split()");
    if (!Has(*upstream)) {  // else its stream has several consumers, and all upstream of it is known
      AddVerticesUpstream(*upstream);
      vertices_.push_back(upstream);
    }
  }
}

bool GraphQuery::Has(const Vertex& vertex) const { return std::ranges::find(vertices_, &vertex) != vertices_.end(); }

std::vector<std::size_t> GraphQuery::Parts() const {
  std::vector<std::size_t> parts;
  for (const Vertex* vertex : vertices_) {
    const std::size_t part = parts.size();  // of its own, unless it takes in records of others
    parts.push_back(part);
    for (const Vertex* upstream : vertex->upstream()) {
      const auto at = std::ranges::find(vertices_, upstream) - vertices_.begin();
      std::ranges::replace(parts, parts[static_cast<std::size_t>(at)], part);
    }
  }
  return parts;
}

std::set<const Vertex*> GraphQuery::BeforeSinks() const {
  std::set<const Vertex*> before;
  for (const Vertex* vertex : vertices_ | std::views::reverse) {
    const bool is_sink = !vertex->record_bytes().has_value();
    if (is_sink || (before.contains(vertex) && !vertex->is_stage())) {
      const std::vector<const Vertex*> upstream = vertex->upstream();
      before.insert(upstream.begin(), upstream.end());
    }
  }
  return before;
}

absl::Status GraphQuery::CheckReach() const {
  std::map<const Vertex*, Reach> reached;
  for (const Vertex* vertex : vertices_) {
    if (!vertex->record_bytes().has_value()) {
      continue;  // a sink, behind one operator
    }
    Reach reach;
    if (!vertex->has_fiber()) {
      reach = {.in_a_row = 1, .ways = 0};
      const std::vector<const Vertex*> upstream = vertex->upstream();
      for (const Vertex* each : std::set<const Vertex*>(upstream.begin(), upstream.end())) {
        const Reach& its = reached.at(each);
        reach.in_a_row = std::max(reach.in_a_row, its.in_a_row + 1);
        reach.ways += its.ways;  // each is at most kMostWays
      }
    }
    if (reach.in_a_row > kMostInARow) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the query has more than ", kMostInARow,
          " operators in a row, and the stack of a fiber has room for the calls of so many: unite streams by one "
          "Union() of all of them, and do the work of several maps in one"));
    }
    if (reach.ways > kMostWays) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the query has more than ", kMostWays,
          " ways from a source or a stage to one of its operators: where a stream is split and united again, and that "
          "many times in a row, each time doubles them; decide in one FlatMap() instead"));
    }
    reached.emplace(vertex, reach);
  }
  return absl::OkStatus();
}

absl::Status GraphQuery::CheckLoops() const {
  std::set<const Vertex*> ended;
  for (const Vertex* vertex : vertices_) {
    const std::vector<const Vertex*> upstream = vertex->upstream();
    const Vertex* const loop = upstream.empty() ? nullptr : upstream.front()->loop();
    if (std::ranges::any_of(upstream, [loop](const Vertex* each) { return each->loop() != loop; })) {
      return absl::InvalidArgumentError(
          "the query unites or joins a stream in the body of a loop with one from outside of it: the records of the "
          "other stream would be there in one iteration alone; take them into the loop, by its input or its state");
    }
    if (loop != nullptr && !vertex->why_not_in_loops().empty()) {
      return absl::InvalidArgumentError(std::string(vertex->why_not_in_loops()));
    }
    if (loop != nullptr && vertex->is_stage() && vertex->window_ms() != 1) {
      return absl::InvalidArgumentError(
          "the body of a loop has a window that is not EachIteration(): event times there are the numbers of "
          "iterations, and each has a window of its own");
    }
    if (const Vertex* head = vertex->ends_loop(); head != nullptr) {
      if (head != loop) {
        return absl::InvalidArgumentError(
            "the body of a loop returns a stream that is not made of the one that it is given");
      }
      ended.insert(head);
    }
  }
  for (const Vertex* vertex : vertices_) {
    if (vertex->loop() == vertex && !ended.contains(vertex)) {
      return absl::InvalidArgumentError(
          "the query takes in a stream of the body of a loop, and no result of the loop: end one in a sink, too, "
          "Discard{} if need be");
    }
  }
  return absl::OkStatus();
}

std::vector<InputShape> GraphQuery::inputs(const Roles& roles) const {
  std::vector<InputShape> all;
  for (const Vertex* vertex : vertices_) {
    const std::vector<InputShape> its = vertex->inputs(roles);
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::vector<ComparedInput> GraphQuery::compared_inputs() const {
  std::vector<ComparedInput> all;
  for (const Vertex* vertex : vertices_) {
    const std::vector<ComparedInput> its = vertex->compared_inputs();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::uint64_t GraphQuery::source_memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Vertex* vertex : vertices_) {
    bytes += vertex->source_memory_bytes();
  }
  return bytes;
}

std::uint64_t GraphQuery::table_bytes() const {
  TableBytes tables;
  for (const Vertex* vertex : vertices_) {
    tables.merge(vertex->tables());
  }
  std::uint64_t bytes = 0;
  for (const auto& [table, its_bytes] : tables) {
    bytes += its_bytes;
  }
  return bytes;
}

std::int64_t GraphQuery::window_ms() const {
  std::optional<std::int64_t> longest_ms;
  for (const Vertex* vertex : vertices_) {
    if (vertex->loop() == nullptr) {
      longest_ms = std::max(longest_ms, vertex->window_ms());  // none is less than any
    }
  }
  return longest_ms.value_or(kNoWindowEndsMs);
}

std::string GraphQuery::Explain(const Roles& roles) const {
  const std::uint32_t executors = roles.executor_count();
  std::string text = executors == 1 ? "one executor runs\n" : absl::StrCat("each of ", executors, " executors runs\n");
  if (roles.partitions()) {
    absl::StrAppend(&text, "      ", roles.reader_count(), " of them read and partition records, and ",
                    roles.leaders().count(), " have the state of their keys\n");
  }
  if (roles.feeds()) {
    absl::StrAppend(&text, "      ", roles.reader_count(),
                    " of them read, and each streams all records to one of the other ", roles.leaders().count(), "\n");
  }
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    const VertexPlan plan = vertices_[i]->Explain(roles);
    absl::StrAppend(&text, absl::Dec(i + 1, absl::kSpacePad4), "  ", plan.kind);
    std::string_view before = " of ";
    for (const Vertex* upstream : vertices_[i]->upstream()) {
      const auto at = std::ranges::find(vertices_, upstream) - vertices_.begin();
      absl::StrAppend(&text, std::string(before), at + 1, " (records of ", upstream->record_bytes().value_or(0),
                      " bytes)");
      before = " and ";
    }
    absl::StrAppend(&text, "\n");
    for (const std::string& fact : plan.facts) {
      absl::StrAppend(&text, "        ", fact, "\n");
    }
  }
  return text;
}

absl::StatusOr<std::unique_ptr<QueryTask>> GraphQuery::Open(TaskContext& context) const {
  absl::Status status = CheckReach();
  status.Update(CheckLoops());
  if (!status.ok()) {
    return status;
  }
  auto task = std::make_unique<GraphTask>(context, static_cast<std::uint32_t>(inputs(context.roles).size()));
  const std::vector<std::size_t> parts = Parts();
  const std::set<const Vertex*> before_sinks = BeforeSinks();
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    const bool reaches_sink = before_sinks.contains(vertices_[i]);
    if (status = task->Open(*vertices_[i], parts[i], reaches_sink); !status.ok()) {
      return status;
    }
  }
  return task;
}

}  // namespace glaive::engine
