// The start of a query, and of a join, for the sources in this folder: each completes it wrongly, and must not compile.
#pragma once

#include "engine/api/join.h"
#include "engine/sink/discard.h"

namespace glaive::engine {

struct Click {
  std::uint64_t page;
  std::int64_t time_ms;
  double price;
};

inline auto Clicks() {
  const auto time_ms = [](const Click& click) { return click.time_ms; };
  return From(SourceSpec<Click, decltype(time_ms)>{.open = nullptr, .event_time_ms = time_ms});
}

inline auto TwoStreams() { return Join(Clicks(), Clicks()); }
inline auto OnPages() { return TwoStreams().On(&Click::page, &Click::page); }

}  // namespace glaive::engine
