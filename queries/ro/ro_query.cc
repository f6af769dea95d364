#include "queries/ro/ro_query.h"

#include "engine/api/stream.h"

namespace glaive::queries::ro {

std::unique_ptr<engine::Query> BuildRo(const engine::SourceSpec<Item, ItemTime>& items, const ResultSinks& sinks) {
  return engine::From(items).KeyBy(&Item::key).Window(engine::Unbounded{}).Aggregate(engine::Count{}).To(sinks);
}

}  // namespace glaive::queries::ro
