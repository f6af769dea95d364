// RO, the read-only workload of Slash's evaluation (paper section 8.1.2): how often each key has come, with no window.
//
//   SELECT key, COUNT(*) FROM items GROUP BY key
#pragma once

#include <memory>

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/ro/item.h"

namespace glaive::queries::ro {

/// Rows of {key, count}.
std::unique_ptr<engine::Query> BuildRo(const engine::SourceSpec<Item, ItemTime>& items, const ResultSinks& sinks);

}  // namespace glaive::queries::ro
