// StoreCluster: the stores of E executors in one thread, wired by real meshes over `local`, driven step by step in an
// order that the test chooses. What the engine's fibers do, without fibers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rdma/mesh/executor_mesh.h"
#include "state/crdt/sum.h"
#include "state/epoch/delta_outbox.h"
#include "state/epoch/delta_reader.h"
#include "state/store/partitioned_store.h"
#include "tests/state/delta_wire.h"

namespace glaive::state {

using ClusterValue = SumValue<std::int64_t>;
using ClusterStore = PartitionedStore<std::uint64_t, ClusterValue>;
using ClusterSums = std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t>;

struct ClusterOptions {
  std::uint32_t executors = 2;
  std::uint32_t slot_bytes = 256;
  std::uint32_t credits = 2;
  std::uint64_t fragment_bytes = 0;
};

inline constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

/// One executor. Event time and slice number are the same thing here.
class StoreNode {
 public:
  StoreNode(ExecutorId self, const ClusterOptions& options)
      : self_(self),
        executors_(options.executors),
        geometry_(FragmentGeometry::Plan(options.executors, options.slot_bytes, sizeof(ClusterStore::Entry),
                                         options.fragment_bytes)
                      .value()),
        mesh_(rdma::ExecutorMesh::Prepare(
                  {.self = self,
                   .executors_per_node = options.executors,
                   .executor_count = options.executors,
                   .channel = {.slot_bytes = options.slot_bytes, .credits = options.credits, .checksum_payload = true},
                   .run_token = 1},
                  geometry_.pool_segments)
                  .value()),
        store_(ClusterStore::Create(memory_, mesh_->segments(), self, options.executors, geometry_).value()),
        outbox_(options.executors, mesh_->segments()) {
    for (std::uint32_t peer = 0; peer < executors_; ++peer) {
      readers_.emplace_back(ExecutorId{peer}, self, sizeof(ClusterStore::Entry));
    }
  }

  rdma::ExecutorMesh& mesh() { return *mesh_; }
  ClusterStore& store() { return store_; }
  /// All its input is read, sealed and sent, and the segments are back.
  bool Done() const {
    return ended_ && !sealing_ && outbox_.pending() == 0 && mesh_->segments().available() == mesh_->segments().size();
  }
  /// Every peer has ended.
  bool AllMerged() const {
    return std::all_of(readers_.begin(), readers_.end(), [&](const DeltaReader& reader) {
      return reader.sender() == self_ || reader.watermark_ms() == kEndOfTime;
    });
  }
  std::uint64_t early_ends() const { return early_ends_; }

  /// Folds a group in, if there is room now; false: try again later.
  bool TryApply(SliceId slice, std::span<const ClusterStore::Update> updates) {
    if (sealing_) {
      return false;
    }
    if (!store_.HasRoom(updates.size())) {
      if (store_.IsFull(updates.size())) {
        ++early_ends_;
        BeginEpochEnd(watermark_ms_);
      }
      return false;
    }
    EXPECT_TRUE(store_.Apply(slice, updates).ok());
    return true;
  }

  /// Starts to end the epoch, unless that is under way. kEndOfTime: it is the last one.
  bool BeginEpochEnd(std::int64_t watermark_ms) {
    if (sealing_) {
      return false;
    }
    watermark_ms_ = std::max(watermark_ms_, watermark_ms);
    ended_ = watermark_ms_ == kEndOfTime;
    sealing_ = store_.fragment() != nullptr;
    next_leader_ = 0;
    ++epoch_;
    return true;
  }

  /// Seals the next leader's log, if there is a segment for its marker.
  void SealOne() {
    if (!sealing_) {
      return;
    }
    const EpochMarker marker = MarkerOf(Value(self_), epoch_, watermark_ms_);
    if (next_leader_ == Value(self_) || store_.fragment()->TrySeal(ExecutorId{next_leader_}, marker, outbox_)) {
      ++next_leader_;
    }
    if (next_leader_ == executors_) {
      store_.fragment()->Clear();
      sealing_ = false;
    }
  }

  void SendOne(std::uint32_t leader) {
    if (leader != Value(self_)) {
      outbox_.TrySend(ExecutorId{leader}, mesh_->sender(ExecutorId{leader}));
      EXPECT_TRUE(mesh_->Poll().ok());
    }
  }

  void MergeOne(std::uint32_t peer) {
    if (peer == Value(self_)) {
      return;
    }
    rdma::ChannelReceiver& channel = mesh_->receiver(ExecutorId{peer});
    const auto message = channel.TryReceive();
    ASSERT_TRUE(message.ok()) << message.status();
    if (!message->has_value()) {
      channel.FlushCredits();
      return;
    }
    DeltaReader& reader = readers_[peer];
    const SliceId floor{reader.watermark_ms()};
    const auto chunk = reader.Read(**message);
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    const std::span entries(reinterpret_cast<const ClusterStore::Entry*>(chunk->entries.data()),
                            chunk->tag.entry_count);
    const absl::Status merged = store_.Merge(reader, entries, {.first = floor});
    ASSERT_TRUE(merged.ok()) << merged;
    channel.Release();
  }

  void AddSumsTo(ClusterSums& sums) {
    while (const auto* oldest = store_.primary().Oldest()) {
      for (std::uint32_t first = 0; first < oldest->second.size();) {
        const auto run = oldest->second.Run(first);
        for (const auto& entry : run) {
          EXPECT_EQ(LeaderOf(HashKey(entry.key), executors_), self_);
          EXPECT_TRUE(
              sums.emplace(std::pair(Value(oldest->first), entry.key), static_cast<std::int64_t>(entry.value.Result()))
                  .second);
        }
        first += static_cast<std::uint32_t>(run.size());
      }
      store_.primary().DropBefore(SliceId{Value(oldest->first) + 1});
    }
  }

 private:
  ExecutorId self_;
  std::uint32_t executors_;
  FragmentGeometry geometry_;
  StateMemory memory_{std::uint64_t{64} << 20};
  std::unique_ptr<rdma::ExecutorMesh> mesh_;
  ClusterStore store_;
  DeltaOutbox outbox_;
  std::vector<DeltaReader> readers_;
  std::int64_t watermark_ms_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t epoch_ = 0;
  std::uint64_t early_ends_ = 0;
  std::uint32_t next_leader_ = 0;
  bool sealing_ = false;
  bool ended_ = false;
};

class StoreCluster {
 public:
  explicit StoreCluster(const ClusterOptions& options) {
    std::vector<rdma::MeshDescriptor> descriptors;
    for (std::uint32_t self = 0; self < options.executors; ++self) {
      nodes_.push_back(std::make_unique<StoreNode>(ExecutorId{self}, options));
      descriptors.push_back(nodes_.back()->mesh().descriptor());
    }
    for (const auto& node : nodes_) {
      EXPECT_TRUE(node->mesh().Connect(descriptors).ok());
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  StoreNode& node(std::uint64_t index) { return *nodes_[index]; }

  /// One random step of sealing, sending or merging of a random executor.
  void Step(std::mt19937_64& random) {
    StoreNode& node = *nodes_[random() % nodes_.size()];
    const auto peer = static_cast<std::uint32_t>(random() % nodes_.size());
    switch (random() % 3) {
      case 0:
        node.SealOne();
        break;
      case 1:
        node.SendOne(peer);
        break;
      default:
        node.MergeOne(peer);
    }
  }

  bool Done() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->Done() && (node->AllMerged()); });
  }

  /// What all leaders hold together. Empties them.
  ClusterSums TakeSums() {
    ClusterSums sums;
    for (const auto& node : nodes_) {
      node->AddSumsTo(sums);
    }
    return sums;
  }

 private:
  std::vector<std::unique_ptr<StoreNode>> nodes_;
};

}  // namespace glaive::state
