// ReadingOrder: the sources of one executor, read in the order of event time: who is behind reads first.
//
// A join keeps what it has read of one stream until the other one has come as far. So a source lets those that are
// behind it go first, as long as they have something to read. Used by one executor's thread.
//
//   order.Add(reader);
//   fiber.WaitUntil([&] { return order.IsTurnOf(reader); });
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace glaive::engine {

/// What a source's reader says of itself.
class OrderedReader {
 public:
  virtual ~OrderedReader() = default;

  /// The least watermark of its flows. That of an idle flow may be ahead of its source.
  virtual std::int64_t watermark_ms() const = 0;
  /// Whether it could read more right now.
  virtual bool CanRead() const = 0;
  /// Whether its source is idle.
  virtual bool idle() const = 0;
};

class ReadingOrder {
 public:
  /// `reader` outlives the order.
  void Add(const OrderedReader& reader) { readers_.push_back(&reader); }

  /// Whether nobody who is behind the reader could read.
  bool IsTurnOf(const OrderedReader& reader) const {
    return std::ranges::none_of(readers_, [&](const OrderedReader* other) {
      return other->watermark_ms() < reader.watermark_ms() && other->CanRead();
    });
  }
  /// How far all have read.
  std::int64_t watermark_ms() const {
    const auto last =
        std::ranges::min_element(readers_, {}, [](const OrderedReader* reader) { return reader->watermark_ms(); });
    return (*last)->watermark_ms();
  }
  bool all_idle() const {
    return std::ranges::all_of(readers_, [](const OrderedReader* reader) { return reader->idle(); });
  }

 private:
  std::vector<const OrderedReader*> readers_;
};

}  // namespace glaive::engine
