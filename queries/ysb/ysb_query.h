// The Yahoo Streaming Benchmark as a Glaive query: how many views each key has in each tumbling window.
//
//   slash  SELECT ad_id, COUNT(*) FROM events WHERE event_type = 'view' GROUP BY ad_id, TUMBLE(event_time, 10 min)
//   yahoo  SELECT campaign, COUNT(*) FROM events JOIN ads USING (ad_id) WHERE event_type = 'view'
//          GROUP BY campaign, TUMBLE(event_time, 10 s)
#pragma once

#include <cstdint>
#include <memory>

#include "engine/api/query.h"
#include "engine/sink/all_of.h"
#include "engine/sink/sink.h"
#include "engine/source/block_source.h"
#include "queries/ysb/generator.h"

namespace glaive::queries::ysb {

/// {window, key, count}; the key is the ad (slash) or the campaign (yahoo).
using YsbRow = engine::WindowResult<std::uint64_t, std::uint64_t>;

/// The query over each executor's own part of the generated input; `block` says how much of it, and how often.
std::unique_ptr<engine::Query> BuildYsb(const GeneratorOptions& generator, const engine::BlockSourceOptions& block,
                                        const engine::AllOf<YsbRow>& sink);

}  // namespace glaive::queries::ysb
