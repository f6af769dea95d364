// The start of a query, for the sources in this folder: each completes it wrongly, and must not compile.
#pragma once

#include "engine/api/stream.h"
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

}  // namespace glaive::engine
