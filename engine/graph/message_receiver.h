// MessageReceiver: an RDMA fiber that takes the messages of other executors out of the rings, and hands each to its
// input.
//
// Owned by a query task, used by its executor's thread. The fiber serves the channels on which messages have arrived,
// in turn (ExecutorMesh::NextArrival). So executors that send nothing cost nothing. While nothing has arrived, it waits
// and returns credits that were held back. It ends when every other executor has sent its last message of each input. A
// query without inputs has no such fiber.
//
//   MessageReceiver receiver(context, graph.inputs());
//   status = receiver.Spawn(scheduler);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "engine/graph/message_target.h"
#include "rdma/channel/channel_receiver.h"

namespace glaive::engine {

class MessageReceiver {
 public:
  /// `context` and the query's inputs outlive the receiver.
  MessageReceiver(TaskContext& context, std::span<MessageTarget* const> inputs);

  /// Adds the fiber.
  absl::Status Spawn(Scheduler& scheduler);

 private:
  void Receive(Fiber& fiber);
  std::size_t ReceiveMessage(Fiber& fiber, rdma::ChannelReceiver& channel);

  TaskContext* context_;
  std::vector<MessageTarget*> inputs_;
  std::vector<std::size_t> open_inputs_;  // by executor: of which messages may come
  std::size_t open_peers_ = 0;
};

}  // namespace glaive::engine
