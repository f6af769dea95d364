// RO, the read-only workload of Slash's evaluation (paper section 8.1.2): how often each key has come, with no window.
//
//   SELECT key, COUNT(*) FROM items GROUP BY key
#pragma once

#include <memory>

#include "engine/api/stream.h"
#include "queries/ro/item.h"

namespace glaive::queries::ro {

template <typename Events, typename Sink>
std::unique_ptr<engine::Query> BuildRo(const Events& items, const Sink& sink) {
  return engine::From(items).KeyBy(&Item::key).Window(engine::Unbounded{}).Aggregate(engine::Count{}).To(sink);
}

}  // namespace glaive::queries::ro
