// DeltaWire: one real channel of this process (executor 0 to executor 1 over `local`), for tests that want to see what
// leaves an outbox, and messages made by hand, for tests of what a reader refuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_layout.h"
#include "state/epoch/delta_reader.h"

namespace glaive::state {

/// A copy of a run of a received message.
struct ReceivedRun {
  DeltaRunHeader header;
  std::vector<std::byte> bytes;  // of its entries

  template <typename Entry>
  std::vector<Entry> Entries() const {
    EXPECT_EQ(header.kind, Entry::kKind);
    EXPECT_EQ(bytes.size(), header.entry_count * sizeof(Entry));
    std::vector<Entry> entries(header.entry_count);
    std::memcpy(entries.data(), bytes.data(), bytes.size());
    return entries;
  }
};

/// A copy of a received message.
struct ReceivedDelta {
  DeltaTag tag{};
  std::vector<std::byte> payload;

  /// Its runs, read without a DeltaReader. They fill what the tag says, and their padding is zero.
  std::vector<ReceivedRun> Runs(const DeltaEntryBytes& entry_bytes) const {
    std::vector<ReceivedRun> runs;
    for (std::size_t next = 0; next < tag.runs_bytes && !testing::Test::HasFailure();) {
      ReceivedRun run;
      std::memcpy(&run.header, payload.data() + next, sizeof(run.header));
      const std::size_t size = run.header.kind == DeltaKind::kForm ? entry_bytes.form : entry_bytes.update;
      const std::byte* const entries = payload.data() + next + sizeof(run.header);
      const std::byte* const padding = entries + run.header.entry_count * size;
      next += sizeof(run.header) + run.header.entry_count * size;
      next += next % 8 == 0 ? 0 : 8 - next % 8;  // the next run is aligned for any entry
      EXPECT_GT(run.header.entry_count, 0U);
      EXPECT_LE(next, tag.runs_bytes);
      EXPECT_TRUE(std::all_of(padding, payload.data() + next, [](std::byte byte) { return byte == std::byte{0}; }));
      run.bytes.assign(entries, padding);
      runs.push_back(std::move(run));
    }
    return runs;
  }
  EpochMarker Marker() const {
    EpochMarker marker;
    std::memcpy(&marker, payload.data() + payload.size() - sizeof(marker), sizeof(marker));
    return marker;
  }
};

class DeltaWire {
 public:
  DeltaWire(std::uint32_t slot_bytes, std::uint32_t segment_count, std::uint32_t credits = 8) {
    std::vector<rdma::MeshDescriptor> descriptors;
    for (std::uint32_t self = 0; self < 2; ++self) {
      const rdma::ChannelOptions channel{.slot_bytes = slot_bytes, .credits = credits, .checksum_payload = true};
      meshes_.push_back(rdma::ExecutorMesh::Prepare({.self = ExecutorId{self},
                                                     .executors_per_node = 2,
                                                     .executor_count = 2,
                                                     .channel = channel,
                                                     .run_token = 1},
                                                    segment_count)
                            .value());
      descriptors.push_back(meshes_.back()->descriptor());
    }
    for (const auto& mesh : meshes_) {
      EXPECT_TRUE(mesh->Connect(descriptors).ok());
    }
  }

  /// Where what is sent comes from.
  rdma::SegmentPool& pool() { return meshes_[0]->segments(); }
  rdma::ChannelSender& sender() { return meshes_[0]->sender(ExecutorId{1}); }

  /// The next message that has arrived, if any; its segment is back in the pool afterwards.
  std::optional<ReceivedDelta> Receive() {
    EXPECT_TRUE(meshes_[1]->Poll().ok());
    rdma::ChannelReceiver& receiver = meshes_[1]->receiver(ExecutorId{0});
    const auto message = receiver.TryReceive();
    EXPECT_TRUE(message.ok()) << message.status();
    if (!message.ok() || !message->has_value()) {
      return std::nullopt;
    }
    const std::span<const std::byte> payload = (*message)->payload;
    ReceivedDelta received{.tag = (*message)->tag.As<DeltaTag>(), .payload = {payload.begin(), payload.end()}};
    receiver.Release();
    EXPECT_TRUE(receiver.FlushCredits());
    EXPECT_TRUE(meshes_[0]->Poll().ok());
    return received;
  }

 private:
  std::vector<std::unique_ptr<rdma::ExecutorMesh>> meshes_;
};

/// A message as a channel hands it out, in memory of its own.
class HandMadeDelta {
 public:
  explicit HandMadeDelta(std::uint64_t epoch) { tag.epoch = epoch; }

  template <typename Entry>
  HandMadeDelta& AddRun(SliceId slice, const std::vector<Entry>& entries) {
    return AddRunThatSays(
        {.slice = slice, .entry_count = static_cast<std::uint32_t>(entries.size()), .kind = Entry::kKind}, entries);
  }
  /// A run of entries behind a header that may be wrong.
  template <typename Entry>
  HandMadeDelta& AddRunThatSays(const DeltaRunHeader& header, const std::vector<Entry>& entries) {
    AddHeader(header);
    Append(entries.data(), entries.size() * sizeof(Entry));
    payload.resize((payload.size() + kRunAlignment - 1) / kRunAlignment * kRunAlignment);
    tag.runs_bytes = static_cast<std::uint32_t>(payload.size());
    return *this;
  }
  HandMadeDelta& AddHeader(const DeltaRunHeader& header) {
    Append(&header, sizeof(header));
    tag.runs_bytes = static_cast<std::uint32_t>(payload.size());
    return *this;
  }
  /// Ends the epoch; nothing comes behind it.
  HandMadeDelta& AddMarker(const EpochMarker& marker) {
    Append(&marker, sizeof(marker));
    tag.has_marker = 1;
    return *this;
  }

  rdma::Message message() const { return {.payload = payload, .tag = rdma::MessageTag::Of(tag), .number = 1}; }

  DeltaTag tag{};
  std::vector<std::byte> payload;

 private:
  void Append(const void* data, std::size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    payload.insert(payload.end(), bytes, bytes + size);
  }
};

inline EpochMarker MarkerOf(std::uint32_t executor, std::uint64_t epoch, std::int64_t watermark_ms) {
  EpochMarker marker{};
  marker.epoch = epoch;
  marker.watermark_ms = watermark_ms;
  marker.executor = executor;
  return marker;
}

}  // namespace glaive::state
