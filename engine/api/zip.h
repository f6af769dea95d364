// Zip: two streams become one, of pairs of their records in the order in which they arrive.
//
// What moves: all records of both streams, to executor 0. The first record of `a` to arrive there and the first one of
// `b` make a pair, and so on. Records that one executor has read arrive in their order, those of two executors in any
// order. The pairs end with the shorter stream. Records that wait for a partner are stored, so the streams should be
// about as fast.
//
// A pair has the later one of its records' event times, if both streams have event times.
//
//   Zip(Lines(questions), Lines(answers))
//       .Map([](const Zipped<TextLine, TextLine>& both) { return Exam{both.first.text, both.second.text}; })
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/api/as_stream.h"
#include "engine/api/stream.h"
#include "engine/api/timed_stream.h"
#include "engine/api/union.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/joined_record.h"
#include "engine/graph/zip.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

/// A record of either stream as a `Joined`, which is a JoinedRecord.
template <typename Joined>
struct AsLeft {
  template <typename A>
  Joined operator()(const A& record) const {
    return Joined{.key = {}, .left = record, .right = {}};
  }
};
template <typename Joined>
struct AsRight {
  template <typename B>
  Joined operator()(const B& record) const {
    return Joined{.key = {}, .left = {}, .right = record};
  }
};

/// See the head of this file. A record of the result is a Zipped<A, B>.
template <typename First, typename Second>
auto Zip(First first, Second second) {
  static_assert(kAreStreams<First, Second> || kIsAnyRefused<First, Second>,
                "glaive: Zip() takes two streams of records; behind KeyBy() and Window() comes Aggregate(...) first");
  if constexpr (kAreStreams<First, Second>) {
    auto a = AsStream(std::move(first));
    auto b = AsStream(std::move(second));
    using A = typename decltype(a)::Record;
    using B = typename decltype(b)::Record;
    constexpr bool kHasTime = decltype(a)::Origin::kHasTime && decltype(b)::Origin::kHasTime;
    using Joined = JoinedRecord<AllRecords, A, B>;
    auto both = Union(std::move(a).Map(AsLeft<Joined>{}), std::move(b).Map(AsRight<Joined>{})).OnExecutors(1);
    auto origin = OriginOf<decltype(both)::Origin::kFromSource, kHasTime, Joined>(std::move(both).Timed());
    using Origin = decltype(origin);
    return StreamOf</*kFromSource=*/false, kHasTime, Zipped<A, B>>(
        std::make_shared<const ZipVertex<Origin, A, B>>(std::move(origin)));
  } else {
    return WrongOrder{};
  }
}

}  // namespace glaive::engine
