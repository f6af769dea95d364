// HostileHelper: an executor of a query, and the channel of another one that sends what an input says. The mesh, the
// channels and all of the executor are real, in one thread.
//
// What the helper sends passes the channel's own checks: a message has its length, its number and its checksum. Tag and
// payload are the input's.
//
//   HostileHelper helper(query, clock);
//   helper.Send([&](std::span<std::byte> payload) { ...; return HostileHelper::Message{bytes, tag}; });
//   if (helper.done()) ...                        // the executor has ended, with an error or without
//
//   return Attack<HostileMessages>(queries, data, size);   // in a fuzzer's entry point
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/executor/executor.h"
#include "tests/fuzz/fuzz_clock.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/ticks.h"

namespace glaive::engine {

class HostileHelper {
 public:
  struct Message {
    std::size_t payload_bytes = 0;
    rdma::MessageTag tag;
  };

  /// Both outlive it.
  HostileHelper(const Query& query, const Clock& clock) : inputs_(query.inputs(Roles(2))) {
    ExecutorConfig config;
    config.mesh.executors_per_node = 2;
    config.mesh.executor_count = 2;
    config.mesh.channel = {.slot_bytes = kSlotBytes, .credits = 4};
    config.mesh.run_token = 7;
    config.max_lead_ms = 1'000;
    config.fragment_bytes = 64 << 10;
    config.state_limit_bytes = kStateLimitBytes;
    config.clock = &clock;
    rdma::MeshOptions helper = config.mesh;
    helper.self = ExecutorId{1};
    mesh_ = *rdma::ExecutorMesh::Prepare(helper, 4);
    executor_ = *Executor::Create(config, query);
    const std::array<rdma::MeshDescriptor, 2> all = {executor_->descriptor(), mesh_->descriptor()};
    Require(executor_->Connect(all).ok() && mesh_->Connect(all).ok(), "executor and helper connect");
    while (executor_->mesh().PollConnecting()->has_value() || mesh_->PollConnecting()->has_value()) {
    }
    Require(executor_->Open(GoOn).ok() && executor_->Start().ok(), "the executor starts");
  }

  /// Of the query, by their numbers.
  std::span<const InputShape> inputs() const { return inputs_; }
  bool done() const { return executor_->done(); }

  /// Sends the message that `write(payload)` makes in a payload of zeros, if there is room for one, and lets the
  /// executor work.
  template <typename WriteFn>
  void Send(const WriteFn& write) {
    Run();
    const std::optional<rdma::SegmentId> segment = mesh_->segments().TryAcquire();
    if (!segment.has_value()) return;
    const std::span<std::byte> payload(mesh_->segments().Data(*segment), mesh_->segments().payload_capacity());
    std::memset(payload.data(), 0, payload.size());
    const Message message = write(payload);
    if (!mesh_->sender(ExecutorId{0})
             .TrySend(*segment, static_cast<std::uint32_t>(message.payload_bytes), message.tag)) {
      mesh_->segments().Release(*segment);
    }
    Run();
  }

 private:
  static constexpr std::uint32_t kSlotBytes = 1024;
  static constexpr std::uint64_t kStateLimitBytes = std::uint64_t{64} << 20;
  static constexpr int kRoundsAMessage = 16;

  void Run() {
    mesh_->Flush();
    for (int i = 0; i < kRoundsAMessage && !executor_->done(); ++i) executor_->RunRound();
    (void)mesh_->Poll();
    if (mesh_->receiver(ExecutorId{0}).Ready()) {
      const auto message = mesh_->receiver(ExecutorId{0}).TryReceive();
      if (message.ok() && message->has_value()) mesh_->receiver(ExecutorId{0}).Release();
      (void)mesh_->receiver(ExecutorId{0}).FlushCredits();
    }
  }

  std::vector<InputShape> inputs_;
  std::unique_ptr<rdma::ExecutorMesh> mesh_;
  std::unique_ptr<Executor> executor_;
};

/// Runs the query that the input names, and sends its executor messages as long as there is input. A Hostile has a
/// helper: Send(input) sends a message, and done() says whether the executor has ended.
template <typename Hostile>
int Attack(const Queries& queries, const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const FuzzClock clock;
  Hostile hostile(*queries[input.ConsumeIntegralInRange<std::size_t>(0, queries.size() - 1)], clock);
  while (input.remaining_bytes() > 0 && !hostile.done()) hostile.Send(input);
  return 0;
}

}  // namespace glaive::engine
