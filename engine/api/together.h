// Together: several queries as one, for a program with several results.
//
// Sources, flat maps and stages of a stream run once for all its copies, and for both streams of a Split. The steps
// between them run once for each. A program has one run and one report; each sink has its own files. A slow sink holds
// up the sources of its stream, all streams that are made of them, and sources that are joined or united with these,
// because an executor reads such sources in the order of event time.
//
//   auto clicks = From(source).Filter(&IsClick);
//   auto counts = Stream(clicks).KeyBy(&Click::page).Window(Tumbling{absl::Minutes(1)}).Aggregate(Count{});
//   std::unique_ptr<Query> query = Together(std::move(clicks).To(Csv{"clicks.csv"}),
//                                           std::move(counts).To(Csv{"counts.csv"}));
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <type_traits>

#include "engine/api/named_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/graph_query.h"

namespace glaive::engine {

/// See the head of this file. Each is what To() returns, or Together().
template <typename... Queries>
std::unique_ptr<GraphQuery> Together(const Queries&... queries) {
  static_assert(sizeof...(Queries) > 0, "glaive: Together() takes queries, such as Together(a.To(...), b.To(...))");
  constexpr bool kAreGraphs = (std::is_same_v<Queries, std::unique_ptr<GraphQuery>> && ...);
  constexpr bool kIsRefused = (std::is_same_v<Queries, WrongOrder> || ...);
  constexpr bool kHaveSinks = (!std::derived_from<Queries, WithoutSink> && ...);
  static_assert(kHaveSinks || kIsRefused,
                "glaive: a query ends in a sink: in Together(), too, call To(...) of each stream");
  static_assert(kAreGraphs || !kHaveSinks || kIsRefused,
                "glaive: Together() takes what To() returns, std::unique_ptr<GraphQuery>: let functions that build "
                "queries return that");
  if constexpr (kAreGraphs) {
    return GraphQuery::Unite(std::array<const GraphQuery*, sizeof...(Queries)>{queries.get()...});
  } else {
    return nullptr;
  }
}

}  // namespace glaive::engine
