// The messages of an exchange: records on their way to the executors that they are for, and the right to send more.
//
//   kRecords     payload:  ExchangeHeader | records, as they lie in memory | their texts (state/record/text_wire.h)
//   kGrant       no payload: `granted` messages of records have been taken out of the receiver's inbox
//   kLastGrant   the same, and the receiver has taken the end of the stream out of it: its last message
//
//   ExchangeTag, 24 bytes                         ExchangeHeader, 64 bytes
//   offset  size  field                           offset  size  field
//        0     4  kind                                 0     8  watermark_ms       event time
//        4     4  record_count                         8     8  watermark_read_ns  see Watermark
//        8     4  granted                             16     8  read_ns            see Batch
//       12     4  text_bytes     of all texts         24     4  executor           the sender
//       16     4  input          of the query's       28     4  in_order           0 or 1
//       20     4  reserved       zero                 32     4  state              see FlowState
//                                                     36     4  reserved           zero
//                                                     40     8  event_time_shift_ms  see Batch
//                                                     48    16  reserved           zero
//
// Records of an exchange are TimedRecords, each with its event time; those of a source that another executor reads
// (engine/ingest/) are as the source has them. Watermark and idleness in the header take effect behind the message's
// records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/base/event_time.h"
#include "engine/graph/message_target.h"

namespace glaive::engine {

enum class ExchangeKind : std::uint32_t { kRecords = 0, kGrant = 1, kLastGrant = 2 };
inline bool IsGrant(ExchangeKind kind) { return kind == ExchangeKind::kGrant || kind == ExchangeKind::kLastGrant; }

struct ExchangeTag {
  ExchangeKind kind = ExchangeKind::kRecords;
  std::uint32_t record_count = 0;
  std::uint32_t granted = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t input = 0;
  std::uint32_t reserved = 0;
};

/// Whether a stream goes on.
enum class FlowState : std::uint32_t { kActive = 0, kIdle = 1, kEnded = 2 };

struct ExchangeHeader {
  std::int64_t watermark_ms = kMinEventTimeMs;
  std::int64_t watermark_read_ns = 0;
  std::int64_t read_ns = 0;
  std::uint32_t executor = 0;
  std::uint32_t in_order = 0;
  FlowState state = FlowState::kActive;
  std::uint32_t reserved = 0;
  std::int64_t event_time_shift_ms = 0;
  std::uint64_t more_reserved[2] = {};
};

static_assert(sizeof(ExchangeTag) == 24 && std::is_trivially_copyable_v<ExchangeTag>);
static_assert(offsetof(ExchangeTag, input) == kInputInTag);
static_assert(sizeof(ExchangeHeader) == 64 && std::is_trivially_copyable_v<ExchangeHeader>);
static_assert(offsetof(ExchangeHeader, executor) == 24 && offsetof(ExchangeHeader, event_time_shift_ms) == 40);

}  // namespace glaive::engine
