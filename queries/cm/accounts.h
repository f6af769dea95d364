// What a key has in a window by the definitions of the cm queries, for the oracle (queries/common/oracle.h): plain C++,
// no code of the engine.
#pragma once

#include <algorithm>
#include <cmath>
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

__extension__ using Int128 = __int128;

/// The double nearest to numerator / denominator, neither of them negative, for quotients of less than 2^60 and a
/// denominator of less than 2^60 above 0.
inline double NearestQuotient(Int128 numerator, Int128 denominator) {
  int shift = 0;
  while (numerator != 0 && (numerator / denominator) >> 60 == 0) {
    numerator *= 2;
    ++shift;
  }
  // More bits than a double has, and the last says whether any follow: rounding it is rounding the quotient.
  const bool inexact = numerator % denominator != 0;
  return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(numerator / denominator) | (inexact ? 1U : 0U)),
                    -shift);
}

/// All aggregates of the profile, in the order of the query. The variance is of integers in units of 2^-16, rounded
/// once.
struct CpuEverything {
  void Add(const TaskEvent& event) {
    cpu.Add(event);
    const auto units = static_cast<std::int64_t>(event.cpu * 0x1p16F);
    of_units += units;
    of_squares += Int128{units} * units;
    requests.insert(event.cpu);
    tasks.insert(event.task_index);
    by_time.insert({event.timestamp_us, event.task_index});
  }
  auto value() const {
    const auto n = static_cast<std::int64_t>(cpu.count);
    const double variance = NearestQuotient(n * of_squares - of_units * of_units, Int128{n} * n);
    std::vector<std::int64_t> top(tasks.rbegin(), std::next(tasks.rbegin(), std::min<std::int64_t>(3, n)));
    return std::tuple(cpu.count, cpu.sum, *requests.begin(), *requests.rbegin(),
                      cpu.sum / static_cast<double>(cpu.count), variance * 0x1p-32, by_time.begin()->second,
                      by_time.rbegin()->second, top);
  }

  CpuAccount cpu;
  Int128 of_units = 0;
  Int128 of_squares = 0;
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
