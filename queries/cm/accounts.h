// What a key has in a window by the definitions of the cm queries, for the oracle (queries/common/oracle.h): plain C++,
// no code of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "queries/cm/task_event.h"

namespace glaive::queries::cm {

/// Sums of multiples of 2^-16 (generator.h) are exact in a double up to 2^37, that is for 2^39 events of a window.
struct CpuAccount {
  void Add(const TaskEvent& event) {
    sum += double{event.cpu};
    ++count;
  }

  double sum = 0;
  std::uint64_t count = 0;
};

struct CpuSum : CpuAccount {
  double value() const { return sum; }
};

struct CpuMean : CpuAccount {
  double value() const { return sum / static_cast<double>(count); }
};

/// All aggregates of the profile, in the order of the query. Variances are of integers in units of 2^-16, so that one
/// division is all that rounds.
struct CpuEverything : CpuAccount {
  void Add(const TaskEvent& event) {
    CpuAccount::Add(event);
    const auto units = static_cast<std::int64_t>(event.cpu * 0x1p16F);
    of_units += units;
    of_squares += units * units;
    requests.insert(event.cpu);
    tasks.insert(event.task_index);
    by_time.insert({event.timestamp_us, event.task_index});
  }
  auto value() const {
    const auto n = static_cast<std::int64_t>(count);
    const double variance = static_cast<double>(n * of_squares - of_units * of_units) / static_cast<double>(n * n);
    std::vector<std::int64_t> top(tasks.rbegin(), std::next(tasks.rbegin(), std::min<std::int64_t>(3, n)));
    return std::tuple(count, sum, *requests.begin(), *requests.rbegin(), sum / static_cast<double>(count),
                      variance * 0x1p-32, by_time.begin()->second, by_time.rbegin()->second, top);
  }

  std::int64_t of_units = 0;
  std::int64_t of_squares = 0;
  std::multiset<float> requests;
  std::multiset<std::int64_t> tasks;
  std::set<std::pair<std::int64_t, std::int64_t>> by_time;
};

struct MachineCount {
  void Add(const TaskEvent& event) { machines.insert(event.machine_id); }
  std::uint64_t value() const { return machines.size(); }

  std::set<std::int64_t> machines;
};

}  // namespace glaive::queries::cm
