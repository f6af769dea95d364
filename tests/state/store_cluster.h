// StoreCluster: the stores of E executors in one thread, wired by real meshes over `local`, driven step by step in an
// order that the test chooses. What the engine's fibers do, without fibers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_reader.h"
#include "state/epoch/outbox.h"
#include "state/store/fold_policy.h"
#include "state/store/partitioned_store.h"
#include "state/store/window_table.h"
#include "tests/state/delta_wire.h"
#include "tests/state/test_hash.h"

namespace glaive::state {

template <typename V>
using ClusterStore = PartitionedStore<std::uint64_t, V, WindowTable<std::uint64_t, V>>;
/// By slice and key.
template <typename V>
using ClusterValues = std::map<std::pair<std::int64_t, std::uint64_t>, V>;

struct ClusterOptions {
  std::uint32_t executors = 2;
  std::uint32_t slot_bytes = 256;
  std::uint32_t credits = 2;
  std::uint64_t fragment_bytes = 0;
  FoldOptions fold;
};

/// How often something was met that tests want to have met.
struct ClusterMet {
  std::uint64_t folded = 0;             // records
  std::uint64_t appended = 0;           // records
  std::uint64_t taken_by_folder = 0;    // records
  std::uint64_t switches_off = 0;       // of folding
  std::uint64_t switches_on = 0;        // again
  std::uint64_t read_outs_to_grow = 0;  // of a full combiner
  std::uint64_t read_outs_for_off = 0;  // since folding was switched off
  std::uint64_t read_outs_for_slice = 0;
  std::uint64_t takes_that_replaced = 0;  // forms that gave up their place

  void Add(const ClusterMet& other) {
    folded += other.folded;
    appended += other.appended;
    taken_by_folder += other.taken_by_folder;
    switches_off += other.switches_off;
    switches_on += other.switches_on;
    read_outs_to_grow += other.read_outs_to_grow;
    read_outs_for_off += other.read_outs_for_off;
    read_outs_for_slice += other.read_outs_for_slice;
    takes_that_replaced += other.takes_that_replaced;
  }
};

inline constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

/// One executor. Event time and slice number are the same thing here.
template <typename V>
class StoreNode {
 public:
  using Store = ClusterStore<V>;
  using Update = typename Store::Update;

  StoreNode(ExecutorId self, const ClusterOptions& options)
      : self_(self),
        executors_(options.executors),
        geometry_(FragmentGeometry::Plan(options.executors, options.slot_bytes, Store::kMostEntryBytes,
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
        outbox_(options.executors, mesh_->segments()),
        store_(Store::Create({.memory = &memory_,
                              .pool = &mesh_->segments(),
                              .outbox = &outbox_,
                              .self = self,
                              .leaders = Leaders(options.executors),
                              .input = 0,
                              .geometry = geometry_,
                              .fold = options.fold})
                   .value()) {
    for (std::uint32_t peer = 0; peer < executors_; ++peer) {
      readers_.emplace_back(ExecutorId{peer}, self, Store::kEntryBytes);
    }
  }

  rdma::ExecutorMesh& mesh() { return *mesh_; }
  Store& store() { return store_; }
  /// All its input is read, sealed and sent, and the segments are back.
  bool Done() const {
    return ended_ && !sealing_ && !store_.holds_back() && outbox_.pending() == 0 &&
           mesh_->segments().available() == mesh_->segments().size();
  }
  /// Every peer has ended.
  bool AllMerged() const {
    return std::all_of(readers_.begin(), readers_.end(), [&](const DeltaReader& reader) {
      return reader.sender() == self_ || reader.watermark_ms() == kEndOfTime;
    });
  }
  ClusterMet met() const {
    ClusterMet met = met_;
    met.folded = store_.fold_policy().folded_records();
    met.appended = store_.fold_policy().appended_records();
    met.switches_off = (store_.fold_policy().switches() + 1) / 2;
    met.switches_on = store_.fold_policy().switches() / 2;
    return met;
  }

  /// Takes records of one slice, which from now on most are of if it `enters` it. False: something else has to be done
  /// first, a part of which is done if it can be now; try again later.
  bool TryTake(SliceId slice, bool enters, const std::vector<Update>& updates) {
    if (sealing_ || !store_.HasRoom(updates.size())) {
      return false;
    }
    if (reading_out_) {
      ReadOutSome();
      return false;
    }
    if (enters) {
      if (store_.holds_back_others(slice)) {
        ++met_.read_outs_for_slice;
        reading_out_ = true;
        return false;
      }
      store_.Enter(slice);
    }
    std::vector<Update> rest;
    store_.UseFolder(slice, [&](auto folder) {
      for (const Update& update : updates) {
        if (!folder.TryFold(update.key, update.input)) {
          rest.push_back(update);
        }
      }
      return folder;
    });
    met_.taken_by_folder += updates.size() - rest.size();
    TakeRest(slice, rest);
    if (store_.wants_read_out()) {
      ++(store_.fold_policy().folds() ? met_.read_outs_to_grow : met_.read_outs_for_off);
      reading_out_ = true;
    }
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

  /// Of an epoch that is to be ended: reads out some of what is held back, or seals the next leader's log, if there are
  /// segments.
  void SealOne() {
    if (!sealing_) {
      return;
    }
    if (store_.holds_back()) {
      ReadOutSome();
      return;
    }
    reading_out_ = false;
    const EpochMarker marker = MarkerOf(Value(self_), epoch_, watermark_ms_);
    if (next_leader_ == Value(self_) || store_.fragment()->TrySeal(ExecutorId{next_leader_}, marker)) {
      ++next_leader_;
    }
    if (next_leader_ == executors_) {
      store_.fragment()->AllSealed();
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
    ASSERT_TRUE(mesh_->Poll().ok());
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
    for (std::span<const std::byte> rest = chunk->runs; !rest.empty();) {
      const auto run = reader.TakeRun(rest);
      ASSERT_TRUE(run.ok()) << run.status();
      const absl::Status checked = store_.CheckRun(reader, *run, {.first = floor});
      ASSERT_TRUE(checked.ok()) << checked;
      for (std::size_t merged = 0; merged < run->entry_count;) {
        const auto some = store_.MergeSome(reader, *run, merged);
        ASSERT_TRUE(some.ok()) << some.status();
        merged += *some;
      }
    }
    channel.Release();
  }

  void AddValuesTo(ClusterValues<V>& values) {
    while (const auto* oldest = store_.primary().Oldest()) {
      const absl::Status visited = oldest->second.ForEach([&](const auto& entry) {
        EXPECT_EQ(LeaderOf(kTestHash(entry.key), executors_), self_);
        EXPECT_TRUE(values.emplace(std::pair(Value(oldest->first), entry.key), Whole(entry.value)).second);
        return absl::OkStatus();
      });
      EXPECT_TRUE(visited.ok());
      store_.primary().DropBefore(SliceId{Value(oldest->first) + 1});
    }
  }

 private:
  static V Whole(const V& value) { return value; }
  static V Whole(const CompactForm<V>& form) { return form.Expanded(); }

  void TakeRest(SliceId slice, std::vector<Update>& rest) {
    const std::uint64_t own_before = store_.own_entries();
    const std::uint64_t appended_before = store_.fold_policy().appended_records();
    EXPECT_TRUE(store_.Take(slice, rest).ok());
    // Each record that was appended is one entry; what goes to the own partition beside them was a form.
    const std::uint64_t appended = store_.fold_policy().appended_records() - appended_before;
    met_.takes_that_replaced += store_.own_entries() - own_before > appended ? 1 : 0;
  }

  void ReadOutSome() {
    if (store_.HasRoom(kMostEntries)) {
      EXPECT_TRUE(store_.ReadOutSome().ok());
      reading_out_ = store_.holds_back();
    }
  }

  ExecutorId self_;
  std::uint32_t executors_;
  FragmentGeometry geometry_;
  StateMemory memory_{std::uint64_t{64} << 20};
  std::unique_ptr<rdma::ExecutorMesh> mesh_;
  Outbox outbox_;
  Store store_;
  std::vector<DeltaReader> readers_;
  std::int64_t watermark_ms_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t epoch_ = 0;
  std::uint32_t next_leader_ = 0;
  bool reading_out_ = false;
  bool sealing_ = false;
  bool ended_ = false;
  ClusterMet met_;
};

template <typename V>
class StoreCluster {
 public:
  explicit StoreCluster(const ClusterOptions& options) {
    std::vector<rdma::MeshDescriptor> descriptors;
    for (std::uint32_t self = 0; self < options.executors; ++self) {
      nodes_.push_back(std::make_unique<StoreNode<V>>(ExecutorId{self}, options));
      descriptors.push_back(nodes_.back()->mesh().descriptor());
    }
    for (const auto& node : nodes_) {
      EXPECT_TRUE(node->mesh().Connect(descriptors).ok());
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  StoreNode<V>& node(std::uint64_t index) { return *nodes_[index]; }

  /// One random step of sealing, sending or merging of a random executor.
  void Step(std::mt19937_64& random) {
    StoreNode<V>& node = *nodes_[random() % nodes_.size()];
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
                       [](const auto& node) { return node->Done() && node->AllMerged(); });
  }

  ClusterMet met() const {
    ClusterMet met;
    for (const auto& node : nodes_) {
      met.Add(node->met());
    }
    return met;
  }

  /// What all leaders hold together. Empties them.
  ClusterValues<V> TakeValues() {
    ClusterValues<V> values;
    for (const auto& node : nodes_) {
      node->AddValuesTo(values);
    }
    return values;
  }

 private:
  std::vector<std::unique_ptr<StoreNode<V>>> nodes_;
};

}  // namespace glaive::state
