#include "engine/graph/graph_query.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/executor/delta_shipper.h"
#include "engine/executor/task_context.h"
#include "engine/graph/open_graph.h"
#include "rdma/base/check.h"
#include "state/epoch/delta_reader.h"

namespace glaive::engine {
namespace {

class GraphTask final : public QueryTask {
 public:
  /// `input_count` is of the inputs that the nodes will have.
  GraphTask(TaskContext& context, std::uint32_t input_count)
      : context_(&context), shipper_(context, input_count), graph_(context, shipper_) {}

  /// Opens the node's operator; nodes upstream first.
  absl::Status Open(const Node& node) {
    absl::StatusOr<std::unique_ptr<Operator>> opened = node.Open(graph_);
    if (!opened.ok()) {
      return opened.status();
    }
    graph_.AddOpened(node, **opened);
    operators_.push_back(*std::move(opened));
    return absl::OkStatus();
  }

  absl::Status Spawn(Scheduler& scheduler) override {
    absl::Status status;
    for (std::uint32_t turn = 0; turn < context_->peer_count(); ++turn) {
      const ExecutorId peer = context_->Peer(turn);
      status.Update(scheduler.Spawn(absl::StrCat("merge ", Value(peer)), FiberKind::kRdma,
                                    [this, peer](Fiber& fiber) { MergeFrom(fiber, peer); }));
    }
    status.Update(shipper_.Spawn(scheduler));
    for (const auto& each : operators_) {
      status.Update(each->Spawn(scheduler));
    }
    return status;
  }

  void Measure() override {
    context_->metrics->state_bytes = context_->memory->most_used_bytes();
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
  void MergeFrom(Fiber& fiber, ExecutorId peer) {
    rdma::ChannelReceiver& channel = context_->mesh->receiver(peer);
    std::vector<state::DeltaReader> readers;  // by input
    for (const DeltaTarget* input : graph_.inputs()) {
      const auto number = static_cast<std::uint32_t>(readers.size());
      readers.emplace_back(peer, context_->self, input->delta_entry_bytes(), number);
    }
    const auto has_ended = [](const state::DeltaReader& reader) { return reader.watermark_ms() == kMaxEventTimeMs; };
    while (!std::ranges::all_of(readers, has_ended)) {
      fiber.WaitUntil([&] { return channel.Ready() || (channel.FlushCredits(), false); });
      MergeMessage(fiber, channel, readers);
      fiber.Yield();
    }
    fiber.WaitUntil([&] { return channel.FlushCredits(); });
  }

  void MergeMessage(Fiber& fiber, rdma::ChannelReceiver& channel, std::vector<state::DeltaReader>& readers) {
    const absl::StatusOr<std::optional<rdma::Message>> message = channel.TryReceive();
    if (!message.ok()) {
      context_->Fail(fiber, message.status());
    }
    if (!message->has_value()) {
      return;
    }
    const std::uint32_t input = (*message)->tag.As<state::DeltaTag>().input;
    state::DeltaReader& reader = readers[std::min<std::size_t>(input, readers.size() - 1)];  // it refuses another's
    const std::int64_t sent_watermark_ms = reader.watermark_ms();
    const absl::StatusOr<state::DeltaChunk> chunk = reader.Read(**message);
    if (!chunk.ok()) {
      context_->Fail(fiber, chunk.status());
    }
    graph_.inputs()[input]->Merge(fiber, reader, sent_watermark_ms, *chunk);
    channel.Release();
  }

  TaskContext* context_;
  DeltaShipper shipper_;
  OpenGraph graph_;
  std::vector<std::unique_ptr<Operator>> operators_;  // each behind those upstream of it
};

}  // namespace

GraphQuery::GraphQuery(std::shared_ptr<const Node> sink) : sink_(std::move(sink)) { AddUpstreamFirst(*sink_); }

void GraphQuery::AddUpstreamFirst(const Node& node) {
  if (std::ranges::find(nodes_, &node) != nodes_.end()) {
    return;  // a stream that was split
  }
  for (const Node* upstream : node.upstream()) {
    GLAIVE_CHECK(upstream != nullptr, "a query takes in a stream that was moved away: use a copy of it, or Split()");
    AddUpstreamFirst(*upstream);
  }
  nodes_.push_back(&node);
}

std::vector<std::size_t> GraphQuery::delta_entry_bytes() const {
  std::vector<std::size_t> bytes;
  for (const Node* node : nodes_) {
    const std::vector<std::size_t> more = node->delta_entry_bytes();
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

std::uint64_t GraphQuery::source_memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Node* node : nodes_) {
    bytes += node->source_memory_bytes();
  }
  return bytes;
}

std::uint64_t GraphQuery::table_bytes() const {
  TableBytes tables;
  for (const Node* node : nodes_) {
    tables.merge(node->tables());
  }
  std::uint64_t bytes = 0;
  for (const auto& [table, its_bytes] : tables) {
    bytes += its_bytes;
  }
  return bytes;
}

std::int64_t GraphQuery::window_ms() const {
  std::int64_t longest_ms = 0;
  for (const Node* node : nodes_) {
    longest_ms = std::max(longest_ms, node->window_ms());
  }
  return longest_ms;
}

absl::StatusOr<std::unique_ptr<QueryTask>> GraphQuery::Open(TaskContext& context) const {
  auto task = std::make_unique<GraphTask>(context, static_cast<std::uint32_t>(delta_entry_bytes().size()));
  for (const Node* node : nodes_) {
    if (absl::Status status = task->Open(*node); !status.ok()) {
      return status;
    }
  }
  return task;
}

}  // namespace glaive::engine
