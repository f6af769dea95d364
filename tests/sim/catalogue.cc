#include "tests/sim/catalogue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace glaive::sim {

std::vector<CatalogueEntry> Catalogue() {
  std::vector<CatalogueEntry> all;
  for (auto* part :
       {&TumblingQueries,  &SlidingQueries,  &SessionQueries,      &UnboundedQueries,     &JoinQueries,
        &StageQueries,     &CountingQueries, &KeyedQueries,        &ChainedQueries,       &ProcessingTimeQueries,
        &SinkQueries,      &FlatMapQueries,  &IntervalJoinQueries, &ShippedJoinQueries,   &ArrivalOrderQueries,
        &GeneratedQueries, &ExchangeQueries, &KeyedStateQueries,   &OrderedWindowQueries, &GraphQueries,
        &TextQueries,      &LoopQueries}) {
    std::ranges::move((*part)(), std::back_inserter(all));
  }
  return all;
}

}  // namespace glaive::sim
