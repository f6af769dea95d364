// StreamOf: the streams behind operators that make records, each with its event time beside it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/api/origin.h"
#include "engine/exchange/exchange.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/vertex.h"
#include "engine/steps/steps.h"
#include "state/record/record.h"

namespace glaive::engine {

template <typename Origin, Step Chain>
class Stream;

/// The chain that begins behind an operator whose records are TimedRecord<R>.
template <typename R>
using Untimed = MapStep<SourceStep<TimedRecord<R>>, RecordOfTimedRecord>;

/// The origin of the records of `vertex`.
template <bool kFromSource, bool kHasTime, typename R>
TimedOrigin<R, kFromSource, kHasTime> OriginOf(std::shared_ptr<const ProducerVertex<TimedRecord<R>>> vertex) {
  return {.vertex = std::move(vertex), .event_time_ms = {}, .tables = {}};
}

/// The stream of the records of an origin.
template <typename R, bool kFromSource, bool kHasTime>
auto StreamOf(TimedOrigin<R, kFromSource, kHasTime> origin) {
  return Stream<TimedOrigin<R, kFromSource, kHasTime>, Untimed<R>>(std::move(origin), {});
}
/// The stream of the records of `vertex`.
template <bool kFromSource, bool kHasTime, typename R>
auto StreamOf(std::shared_ptr<const ProducerVertex<TimedRecord<R>>> vertex) {
  return StreamOf(OriginOf<kFromSource, kHasTime, R>(std::move(vertex)));
}

/// Records that an operator with buffers takes: they are copied as their bytes, and with their texts.
template <typename R>
constexpr void ExpectPlainData() {
  ExpectDescribedTexts<R>();
  static_assert(std::is_trivially_copyable_v<R>,
                "glaive: the records behind this step are plain data: no std::string, no containers, no other owner "
                "of memory; nor a std::pair or std::tuple: write a struct");
}

/// A range that a function of FlatMap or RichFlatMap returns.
template <typename Range>
constexpr void ExpectSmallRange() {
  constexpr std::size_t kMostBytes = 4096;
  static_assert(std::is_reference_v<Range> || sizeof(Range) <= kMostBytes,
                "glaive: the range of FlatMap() lies on a fiber's small stack: return a std::vector, or less");
}

/// The origin of the records that an exchange moves from `origin` and `chain` by `route` (engine/exchange/routes.h).
template <typename Origin, Step Chain, typename Route>
auto Exchanged(Origin origin, Chain chain, Route route) {
  using R = typename Chain::Out;
  ExpectDescribedTexts<R>();
  static_assert(kHidesText<R> || RecordData<R>,
                "glaive: records that move to other executors may reach another process: no pointers, no views, no "
                "owners of memory");
  return OriginOf<Origin::kFromSource, Origin::kHasTime, R>(
      std::make_shared<const ExchangeVertex<Origin, Chain, Route>>(std::move(origin), std::move(chain),
                                                                   std::move(route)));
}

}  // namespace glaive::engine
