// SegmentPool: a fixed number of slot-shaped buffers in one contiguous region, for zero-copy sends.
//
// A producer of messages acquires a segment, fills it and hands it to a ChannelSender. The sender releases the segment
// when its write is complete or, over iWARP, when the peer's credit says that the message was consumed. Owned by one
// executor and used by its thread alone.
//
//   S1 Data(id) == base() + id * slot_bytes(), 64-byte aligned; ids are 0 .. size()-1.
//   S2 A segment is either free or acquired; releasing a free one is a CHECK.
//   S3 Memory is bounded (invariant I6): an empty pool means "not now", never more memory.
//
// Costs: TryAcquire and Release are a few instructions; the last one released is the next one acquired, so that a
// lightly used pool stays in cache.
//
//   if (std::optional<SegmentId> id = pool.TryAcquire()) {
//     std::memcpy(pool.Data(*id), records, bytes);  // bytes <= pool.payload_capacity()
//     if (!sender.TrySend(*id, bytes, tag)) pool.Release(*id);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "rdma/memory/page_region.h"

namespace glaive::rdma {

/// A segment of one pool.
enum class SegmentId : std::uint32_t {};

/// See the head of this file.
class SegmentPool {
 public:
  /// Bytes of a segment that are reserved for the message's footer, which lies behind the payload.
  static constexpr std::uint32_t kFooterBytes = 64;
  /// The smallest and the largest slot, and the multiple all slots are of.
  static constexpr std::uint32_t kMinSlotBytes = 256;
  static constexpr std::uint32_t kMaxSlotBytes = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kSlotAlignment = 64;

  /// Maps zeroed memory of at least so many bytes.
  using MapMemory = absl::FunctionRef<absl::StatusOr<PageRegion>(std::size_t)>;

  /// `count` segments of `slot_bytes` each, in memory that `map` maps. InvalidArgument for a count of 0 or a slot size
  /// that CheckSlotBytes refuses; else the error of `map`, ResourceExhausted when the system has not enough memory.
  static absl::StatusOr<SegmentPool> Create(std::uint32_t slot_bytes, std::uint32_t count,
                                            MapMemory map = PageRegion::Map);

  SegmentPool(SegmentPool&&) = default;
  SegmentPool& operator=(SegmentPool&&) = default;

  /// A free segment, its content unspecified; none when all are in use.
  std::optional<SegmentId> TryAcquire();

  /// Gives back an acquired segment.
  void Release(SegmentId id);

  /// The segment's first byte.
  std::byte* Data(SegmentId id) { return base() + static_cast<std::size_t>(id) * slot_bytes_; }
  const std::byte* Data(SegmentId id) const { return base() + static_cast<std::size_t>(id) * slot_bytes_; }
  std::byte* base() const { return region_.data(); }
  /// All segments, as a transport registers them.
  std::span<std::byte> bytes() const { return {base(), std::size_t{slot_bytes_} * size()}; }

  std::uint32_t slot_bytes() const { return slot_bytes_; }
  /// Bytes of payload a segment can carry: the slot without its footer.
  std::uint32_t payload_capacity() const { return slot_bytes_ - kFooterBytes; }
  std::uint32_t available() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(acquired_.size()); }
  PageKind pages() const { return region_.pages(); }

 private:
  SegmentPool(PageRegion region, std::uint32_t slot_bytes, std::uint32_t count);

  PageRegion region_;
  std::uint32_t slot_bytes_;
  std::vector<SegmentId> free_;         // a stack; never grows past size()
  std::vector<std::uint8_t> acquired_;  // by id: 1 while someone holds it
};

/// Whether slots of this size can be used; InvalidArgument names the rule that is broken.
absl::Status CheckSlotBytes(std::uint64_t slot_bytes);

}  // namespace glaive::rdma
