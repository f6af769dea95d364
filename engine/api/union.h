// Union: several streams of the same record type as one.
//
// A record of each stream is in the union once, with its event time; no record moves to another executor. Records of
// one stream stay in their order, and those of two streams are in any order. The union has event times if all of its
// streams have them. Its watermark is the least of theirs, and an idle stream does not hold it up.
//
//   Union(From(clicks).Map(&ToVisit), From(views).Map(&ToVisit)).KeyBy(&Visit::page).Window(...)
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/api/as_stream.h"
#include "engine/api/stream.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/union.h"

namespace glaive::engine {

/// The union of streams alone.
template <typename First, typename... Others>
auto UnionOfStreams(First first, Others... others) {
  using R = typename First::Record;
  constexpr bool kSameRecord = (std::is_same_v<typename Others::Record, R> && ...);
  static_assert(kSameRecord, "glaive: the streams of Union() have the same type of record; Map() them to one first");
  if constexpr (kSameRecord) {
    constexpr bool kFromSource = First::Origin::kFromSource || (Others::Origin::kFromSource || ...);
    constexpr bool kHasTime = First::Origin::kHasTime && (Others::Origin::kHasTime && ...);
    constexpr bool kHasResults = !(First::Origin::kFromSource && ... && Others::Origin::kFromSource);
    std::vector<std::shared_ptr<const ProducerVertex<TimedRecord<R>>>> streams;
    streams.push_back(std::move(first).Timed());
    (streams.push_back(std::move(others).Timed()), ...);
    return StreamOf<kFromSource, kHasTime, R>(
        std::make_shared<const UnionVertex<TimedRecord<R>>>(std::move(streams), kHasTime, kHasResults));
  } else {
    return WrongOrder{};
  }
}

/// See the head of this file. Two streams at least.
template <typename First, typename... Others>
auto Union(First first, Others... others) {
  static_assert(sizeof...(Others) > 0, "glaive: Union() takes two streams or more, such as Union(a, b)");
  static_assert(kAreStreams<First, Others...> || kIsAnyRefused<First, Others...>,
                "glaive: Union() takes streams of records; behind KeyBy() and Window() comes Aggregate(...) first");
  if constexpr (sizeof...(Others) > 0 && kAreStreams<First, Others...>) {
    return UnionOfStreams(AsStream(std::move(first)), AsStream(std::move(others))...);
  } else {
    return WrongOrder{};
  }
}

}  // namespace glaive::engine
