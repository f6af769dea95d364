// EndingSignals: the signals on which a process ends in order.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace glaive {

/// SIGINT and SIGTERM; SIGHUP, of a terminal that is closed; and SIGXCPU, of a process that has used the processor time
/// that `ulimit -S -t` allows. Async-signal-safe.
inline sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace glaive
