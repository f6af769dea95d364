// DeltaWire: one real channel of this process (executor 0 to executor 1 over `local`), for tests that want to see what
// leaves an outbox, and messages made by hand, for tests of what a reader refuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_layout.h"

namespace glaive::state {

/// A copy of a received message.
struct ReceivedDelta {
  DeltaTag tag{};
  std::vector<std::byte> payload;

  template <typename Entry>
  std::vector<Entry> Entries() const {
    std::vector<Entry> entries(tag.entry_count);
    if (!entries.empty()) std::memcpy(entries.data(), payload.data(), entries.size() * sizeof(Entry));
    return entries;
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
  template <typename Entry>
  HandMadeDelta(std::uint64_t epoch, const std::vector<Entry>& entries, const std::optional<EpochMarker>& marker) {
    tag.epoch = epoch;
    tag.entry_count = static_cast<std::uint32_t>(entries.size());
    tag.entry_bytes = sizeof(Entry);
    tag.has_marker = marker ? 1 : 0;
    payload_bytes = entries.size() * sizeof(Entry);
    if (!entries.empty()) std::memcpy(payload.data(), entries.data(), payload_bytes);
    if (marker) {
      payload_bytes = MarkerOffset(entries.size(), sizeof(Entry));
      std::memcpy(payload.data() + payload_bytes, &*marker, sizeof(*marker));
      payload_bytes += sizeof(*marker);
    }
  }

  rdma::Message message() const {
    return {.payload = std::span(payload).first(payload_bytes), .tag = rdma::MessageTag::Of(tag), .number = 1};
  }

  DeltaTag tag{};
  alignas(64) std::array<std::byte, 4096> payload{};
  std::size_t payload_bytes = 0;
};

inline EpochMarker MarkerOf(std::uint32_t executor, std::uint64_t epoch, std::int64_t watermark_ms) {
  EpochMarker marker{};
  marker.epoch = epoch;
  marker.watermark_ms = watermark_ms;
  marker.executor = executor;
  return marker;
}

}  // namespace glaive::state
