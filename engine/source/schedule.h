// Schedule: the times at which a source has its records read, of a constant rate. They do not depend on when records
// are read: those of a source that was held up are overdue, and come at once. So latencies that count from these times
// have the waiting in them.
//
//   rate 4/s    started │    0    1    2    3    4 ...      record 3 is due at 1 s
//
//   Schedule schedule(options.records_per_second);
//   schedule.Start(now_ns);
//   schedule.RecordsDue(now_ns)   // those that may have been read by now
//   schedule.DueNanos(3)          // when record 3 may be read
#pragma once

#include <cstdint>
#include <limits>

namespace glaive::engine {

class Schedule {
 public:
  /// 0: records are due at once, and have no times.
  explicit Schedule(double records_per_second) : records_per_second_(records_per_second) {}

  bool has_times() const { return records_per_second_ > 0; }
  /// Counts from now on, unless it has begun.
  void Start(std::int64_t now_ns) { started_ns_ = started_ns_ < 0 ? now_ns : started_ns_; }

  /// After Start.
  std::uint64_t RecordsDue(std::int64_t now_ns) const {
    if (!has_times()) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    return static_cast<std::uint64_t>(static_cast<double>(now_ns - started_ns_) * 1e-9 * records_per_second_);
  }
  /// The time of a record, counted from 0; after Start. 0 without times.
  std::int64_t DueNanos(std::uint64_t record) const {
    return has_times()
               ? started_ns_ + static_cast<std::int64_t>(static_cast<double>(record + 1) * 1e9 / records_per_second_)
               : 0;
  }

 private:
  double records_per_second_;
  std::int64_t started_ns_ = -1;
};

}  // namespace glaive::engine
