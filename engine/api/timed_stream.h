// Streams of what an operator makes, each record with its event time beside it.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/api/origin.h"
#include "engine/exchange/exchange.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/vertex.h"
#include "engine/steps/steps.h"
#include "rdma/base/plain_data.h"

namespace glaive::engine {

template <typename Origin, Step Chain>
class Stream;

/// The chain that begins behind an operator whose records are TimedRecord<R>.
template <typename R>
using Untimed = MapStep<SourceStep<TimedRecord<R>>, RecordOfTimedRecord>;

/// The stream of the records of `vertex`.
template <bool kFromSource, bool kHasTime, typename R>
auto StreamOf(std::shared_ptr<const ProducerVertex<TimedRecord<R>>> vertex) {
  return Stream<TimedOrigin<R, kFromSource, kHasTime>, Untimed<R>>(
      {.vertex = std::move(vertex), .event_time_ms = {}, .tables = {}}, {});
}

/// Records that an operator with buffers takes: they are copied as their bytes.
template <typename R>
constexpr void ExpectPlainData() {
  static_assert(std::is_trivially_copyable_v<R>,
                "glaive: the records behind this step are plain data: no std::string, no containers, no other owner "
                "of memory; nor a std::pair or std::tuple: write a struct");
}

/// The stream whose records an exchange moves from `origin` and `chain` by `route` (engine/exchange/routes.h).
template <typename Origin, Step Chain, typename Route>
auto Exchanged(Origin origin, Chain chain, Route route) {
  using R = typename Chain::Out;
  static_assert(PlainData<R>,
                "glaive: records that move to other executors may reach another process: no pointers, no views, no "
                "owners of memory");
  return StreamOf<Origin::kFromSource, Origin::kHasTime, R>(
      std::make_shared<const ExchangeVertex<Origin, Chain, Route>>(std::move(origin), std::move(chain),
                                                                   std::move(route)));
}

}  // namespace glaive::engine
