// ProcessSeconds and ThreadSeconds: the processor time that the process, or the calling thread, has used so far, in
// seconds. It is measured and reported, and nothing else depends on it.
//
//   const double begin = ProcessSeconds();
//   ...
//   const double used = ProcessSeconds() - begin;
#pragma once

#include <ctime>

namespace glaive {

inline double SecondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Of all threads, those that have ended included.
inline double ProcessSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }
inline double ThreadSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace glaive
