// CpuMeanFold: how the hand-written loop of `cm` takes some hundred task events into its table
// (queries/loops/window_loop.h): the mean CPU request of each job.
#pragma once

#include <cstdint>
#include <span>

#include "queries/cm/task_event.h"
#include "queries/loops/account_table.h"

namespace glaive::queries::cm {

struct CpuMeanFold {
  struct Account {
    double value() const { return sum / static_cast<double>(count); }

    double sum;
    std::uint64_t count;
  };
  using Record = TaskEvent;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& event) { return TaskEventTime{}(event); }

  /// Of events, or of parts of them.
  template <typename R>
  static void FoldChunk(std::span<const R> events, Table& table) {
    table.Fold(
        events, [](const R& event) { return static_cast<std::uint64_t>(event.job_id); },
        [](Account& account, const R& event) {
          account.sum += double{event.cpu};
          ++account.count;
        });
  }
};

}  // namespace glaive::queries::cm
