// The messages of the epoch protocol, which the paper calls chunks (section 7.2.2). A message has delta entries, and
// the last one of an epoch has a marker behind them.
//
// A message is one segment of a fragment. Its payload holds runs of entries and, in an epoch's last message for this
// leader, the marker. Delta and marker travel in one ring and one order (invariant I3), and an epoch costs a leader at
// least one message.
//
//   payload:  run header | entries | padding to 8   (as many runs as there are)   | marker, if has_marker | texts
//
//   DeltaTag, 24 bytes                            EpochMarker, 64 bytes, 8-byte aligned behind the runs
//   offset  size  field                           offset  size  field
//        0     8  epoch        from 1                  0     8  epoch            the same as the tag's
//        8     4  runs_bytes   of all runs             8     8  watermark_ms     event time, INT64_MAX: ended
//       12     4  has_marker   0 or 1                 16     8  boundary_read_ns see below
//       16     4  input        of the query's, from 0 24     8  records_read     the flow's position
//       20     4  text_bytes   of all texts           32     8  checkpoint       always 0 so far
//                                                     40     4  executor         the sender
//   DeltaRunHeader, 24 bytes                          44     4  idle             0 or 1
//   offset  size  field                               48    16  reserved         zero
//        0     8  slice        the piece of all its entries: a SliceId
//        8     4  entry_count
//       12     4  kind         see DeltaKind
//       16     8  read_ns      see below
//
// The entries of a run are of one piece of a slice and of one kind, so an entry is no more than a key and what changes
// its value (state/store/delta_entry.h). The long texts of the entries lie behind all else (state/record/text_wire.h).
//
// A query has an input for each stream that its stages and exchanges take in: one for an aggregation or an exchange,
// two for a join. Each input of a stage has epochs and watermarks of its own; all inputs travel over the same channels.
//
// idle says that the sender's source has nothing to read, and that its watermark only follows those of the others.
// Window latency is measured from boundary_read_ns: the time when the sender read the batch that first moved its
// watermark past a window's end in this epoch (its host's monotonic clock; 0 if none did). The latency of a row that
// waits for no window is measured from read_ns. In a run of updates it is the time when the sender read the batch of
// the first entry. In a run of forms it is the time when the sender read its last batch before it began the run.
// Between hosts, whose clocks differ, no latency is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "state/epoch/slice_id.h"

namespace glaive::state {

struct DeltaTag {
  std::uint64_t epoch = 0;
  std::uint32_t runs_bytes = 0;
  std::uint32_t has_marker = 0;
  std::uint32_t input = 0;
  std::uint32_t text_bytes = 0;

  bool operator==(const DeltaTag&) const = default;
};

/// What the entries of a run are.
enum class DeltaKind : std::uint32_t {
  kUpdate = 0,  // a record: key and input, to be applied by Update
  kForm = 1,    // some records of a key that were folded: key and compact form, to be applied by Merge
};

struct DeltaRunHeader {
  SliceId slice{};
  std::uint32_t entry_count = 0;
  DeltaKind kind = DeltaKind::kUpdate;
  std::int64_t read_ns = 0;
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
static_assert(offsetof(DeltaTag, runs_bytes) == 8 && offsetof(DeltaTag, input) == 16);
static_assert(sizeof(DeltaRunHeader) == 24 && std::is_trivially_copyable_v<DeltaRunHeader>);
static_assert(offsetof(DeltaRunHeader, entry_count) == 8 && offsetof(DeltaRunHeader, kind) == 12);
static_assert(offsetof(DeltaRunHeader, read_ns) == 16);
static_assert(sizeof(EpochMarker) == 64 && std::is_trivially_copyable_v<EpochMarker>);
static_assert(offsetof(EpochMarker, records_read) == 24 && offsetof(EpochMarker, executor) == 40);
static_assert(offsetof(EpochMarker, idle) == 44);

/// Room that every segment reserves for the marker: it may turn out to be the epoch's last.
inline constexpr std::size_t kMarkerBytes = sizeof(EpochMarker);
/// Runs start and end at multiples of this.
inline constexpr std::size_t kRunAlignment = 8;

/// The bytes of a run of `entry_count` entries of `entry_bytes`, header and padding included.
constexpr std::size_t RunBytes(std::size_t entry_count, std::size_t entry_bytes) {
  return sizeof(DeltaRunHeader) + (entry_count * entry_bytes + kRunAlignment - 1) / kRunAlignment * kRunAlignment;
}

/// The bytes that a payload of `payload_capacity` bytes has for runs beside a marker.
constexpr std::size_t RunsCapacity(std::size_t payload_capacity) {
  return payload_capacity < kMarkerBytes ? 0 : (payload_capacity - kMarkerBytes) / kRunAlignment * kRunAlignment;
}

}  // namespace glaive::state
