// ReadingOrder: the order in which one executor reads its sources. The source that is furthest behind in event time
// reads first.
//
// A join keeps the records of one stream until the other stream has come as far. So a source waits while a source that
// is behind it has something to read. Sources from which no way in the graph leads to a common vertex do not wait for
// each other. The order also shows how far the executor has read (live_progress.h). Used by one executor's thread.
//
//   order.Add(reader);
//   fiber.WaitUntil([&] { return order.IsTurnOf(reader); });
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"

namespace glaive::engine {

/// A source's reader, as the order of reading sees it.
class OrderedReader {
 public:
  virtual ~OrderedReader() = default;

  /// The least watermark of its flows. That of an idle flow may be ahead of its source.
  virtual std::int64_t watermark_ms() const = 0;
  /// Whether it could read more right now.
  virtual bool CanRead() const = 0;
  /// Whether its source is idle.
  virtual bool idle() const = 0;
  /// Whether its records have event times. Else there is nothing to order them by.
  virtual bool has_event_times() const = 0;
  /// The part of the query's graph that its records reach (OpenGraph::part).
  virtual std::size_t part() const = 0;
};

class ReadingOrder {
 public:
  /// `reader` outlives the order.
  void Add(const OrderedReader& reader) { readers_.push_back(&reader); }

  /// Whether no other reader of the same part that is behind this one could read.
  bool IsTurnOf(const OrderedReader& reader) const {
    return !reader.has_event_times() || std::ranges::none_of(readers_, [&](const OrderedReader* other) {
      return other->part() == reader.part() && other->has_event_times() &&
             other->watermark_ms() < reader.watermark_ms() && other->CanRead();
    });
  }
  /// How far the readers have read whose records have event times. Without such readers, kMaxEventTimeMs.
  std::int64_t watermark_ms() const {
    std::int64_t least_ms = kMaxEventTimeMs;
    for (const OrderedReader* reader : readers_) {
      if (reader->has_event_times()) {
        least_ms = std::min(least_ms, reader->watermark_ms());
      }
    }
    return least_ms;
  }
  /// Shows how far the executor has read.
  void ShowProgress(const TaskContext& context) const {
    LiveProgress& live = *context.live;
    live.records.store(context.metrics->records, std::memory_order_relaxed);
    live.watermark_ms.store(watermark_ms(), std::memory_order_relaxed);
    live.idle.store(std::ranges::all_of(readers_, [](const OrderedReader* reader) { return reader->idle(); }),
                    std::memory_order_relaxed);
  }

 private:
  std::vector<const OrderedReader*> readers_;
};

}  // namespace glaive::engine
