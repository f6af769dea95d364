// The messages of the epoch protocol (paper section 7.2.2): chunks of delta entries, the last of an epoch
// with a marker behind them.
//
// A chunk is one fragment segment: entries from the payload's start, then, if it is an epoch's last one for
// this leader, the marker. So delta and marker travel in one ring and one order (invariant I3), and an epoch
// costs a leader at least one message. The tag of the message's footer says what the payload holds:
//
//   DeltaTag, 24 bytes                            EpochMarker, 64 bytes, 8-byte aligned behind the entries
//   offset  size  field                           offset  size  field
//        0     8  epoch        from 1                  0     8  epoch            the same as the tag's
//        8     4  entry_count                          8     8  watermark_ms     event time, INT64_MAX: ended
//       12     4  entry_bytes  size of an entry       16     8  boundary_read_ns see below
//       16     4  has_marker   0 or 1                 24     8  records_read     the flow's position
//       20     4  input        of the query's, from 0 32     8  checkpoint       0: none
//                                                     40     4  executor         the sender
//                                                     44     4  idle             0 or 1
//                                                     48    16  reserved         zero
//
// A query has as many inputs as streams that its stages take in: one an aggregation, two a join. Each has epochs and
// watermarks of its own; all travel over the same channels.
//
// idle says that the sender's source has nothing to read, and that its watermark only follows those of the others.
// boundary_read_ns is when the sender read the batch that first moved its watermark past a window's end in
// this epoch (its host's monotonic clock; 0 if none did): what window latency is measured from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::state {

struct DeltaTag {
  std::uint64_t epoch = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t entry_bytes = 0;
  std::uint32_t has_marker = 0;
  std::uint32_t input = 0;

  bool operator==(const DeltaTag&) const = default;
};

struct EpochMarker {
  std::uint64_t epoch = 0;
  std::int64_t watermark_ms = 0;
  std::int64_t boundary_read_ns = 0;
  std::uint64_t records_read = 0;
  std::uint64_t checkpoint = 0;
  std::uint32_t executor = 0;
  std::uint32_t idle = 0;
  std::uint8_t reserved[16] = {};
};

static_assert(sizeof(DeltaTag) == 24 && std::is_trivially_copyable_v<DeltaTag>);
static_assert(offsetof(DeltaTag, entry_count) == 8 && offsetof(DeltaTag, has_marker) == 16);
static_assert(sizeof(EpochMarker) == 64 && std::is_trivially_copyable_v<EpochMarker>);
static_assert(offsetof(EpochMarker, records_read) == 24 && offsetof(EpochMarker, executor) == 40);
static_assert(offsetof(EpochMarker, idle) == 44);

/// Room that every segment keeps for the marker: it may turn out to be the epoch's last.
inline constexpr std::size_t kMarkerBytes = sizeof(EpochMarker);

/// Where the marker stands behind `entry_count` entries of `entry_bytes`.
constexpr std::size_t MarkerOffset(std::size_t entry_count, std::size_t entry_bytes) {
  return (entry_count * entry_bytes + 7) / 8 * 8;
}

/// How many entries of `entry_bytes` a payload of `payload_capacity` bytes takes beside a marker.
constexpr std::uint32_t EntriesPerSegment(std::size_t payload_capacity, std::size_t entry_bytes) {
  const std::size_t room = payload_capacity < kMarkerBytes + 8 ? 0 : (payload_capacity - kMarkerBytes) / 8 * 8;
  return static_cast<std::uint32_t>(room / entry_bytes);
}

}  // namespace glaive::state
