// What the queries of the catalogue have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "tests/sim/catalogue.h"

namespace glaive::sim {

using engine::From;

/// The first source's records.
inline auto FirstOfAll(const QueryParts& parts) { return From(parts.flows.Source(0)); }
inline auto SecondOfAll(const QueryParts& parts) { return From(parts.flows.Source(1)); }

inline absl::Duration Millis(std::int64_t count) { return absl::Milliseconds(count); }

/// A windowed stream with the run's lateness and late records.
template <typename Windowed>
auto Judged(Windowed windowed, const QueryParts& parts) {
  return std::move(windowed).AllowedLateness(Millis(parts.lateness_ms)).LateTo(StoreLate{parts.rows});
}

}  // namespace glaive::sim
