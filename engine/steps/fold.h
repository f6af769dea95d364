// FoldAssoc and ReduceAssoc: aggregates by functions of the query, which executors apply to their own records, and
// leaders to what executors have found out. No record moves as such, unless keys hardly recur or the values have texts:
// then an executor sends its records to the leaders of their keys (engine/api/windowed_stream.h).
//
//   struct Extent {
//     std::int64_t least = INT64_MAX, greatest = INT64_MIN;
//     friend bool operator==(const Extent&, const Extent&) = default;
//   };
//   void AddRide(Extent& extent, const Ride& ride) { extent.least = std::min(extent.least, ride.meters); ... }
//   void AddExtent(Extent& extent, const Extent& other) { extent.least = std::min(extent.least, other.least); ... }
//
//   .Aggregate(FoldAssoc(Extent{}, &AddRide, &AddExtent))
//   .Aggregate(ReduceAssoc([](const Ride& a, const Ride& b) { return a.meters >= b.meters ? a : b; }))
//
// Folding begins at the accumulator's default, which is neutral. The order of records, and which of them an executor
// folds together, must not matter: the functions are associative and commutative (state/crdt/crdt.h has the laws). They
// have no captures.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "engine/steps/aggregates.h"
#include "engine/steps/readable_inputs.h"
#include "rdma/base/check.h"
#include "state/crdt/folded.h"

namespace glaive::engine {

template <typename A, typename Local, typename Global>
struct FoldAssocAggregate {
  static constexpr std::string_view kName = "fold";

  template <typename R>
  using Value = state::FoldedValue<A, R, Local, Global>;
  template <typename R>
  static constexpr Unreadable kWhyNot =
      std::invocable<Local, A&, const R&> ? Unreadable::kNothing : Unreadable::kFoldsOthers;

  template <typename R>
  R Input(const R& record) const {
    return record;
  }
};

template <typename Function>
struct ReduceAssocAggregate {
  static constexpr std::string_view kName = "reduce";

  template <typename R>
  using Value = state::ReducedValue<R, Function>;
  template <typename R>
  static constexpr Unreadable kWhyNot =
      std::is_invocable_r_v<R, Function, const R&, const R&> ? Unreadable::kNothing : Unreadable::kReducesOthers;

  template <typename R>
  R Input(const R& record) const {
    return record;
  }
};

/// See the head of this file. `initial` is A{}, else the process ends with a message.
template <typename A, typename Local, typename Global>
auto FoldAssoc(const A& initial, Local /*local*/, Global /*global*/) {
  constexpr bool kAreStateless = state::Stateless<Local> && state::Stateless<Global>;
  constexpr bool kCanMerge = std::is_invocable_v<Global, A&, const A&>;
  static_assert(kAreStateless,
                "glaive: FoldAssoc() takes lambdas without captures, or other functions that are types of their own");
  static_assert(kCanMerge,
                "glaive: the last function of FoldAssoc() takes an accumulator, A&, and one to add to it, const A&");
  if constexpr (kAreStateless && kCanMerge) {
    GLAIVE_CHECK(initial == A{},
                 "FoldAssoc() begins at the default value of its accumulator: make that the initial one");
    return FoldAssocAggregate<A, Local, Global>{};
  } else {
    return RefusedAggregate{};
  }
}

/// See the head of this file.
template <typename Function>
auto ReduceAssoc(Function /*function*/) {
  constexpr bool kIsStateless = state::Stateless<Function>;
  static_assert(kIsStateless,
                "glaive: ReduceAssoc() takes a lambda without captures, or another function that is a type of its own");
  if constexpr (kIsStateless) {
    return ReduceAssocAggregate<Function>{};
  } else {
    return RefusedAggregate{};
  }
}

}  // namespace glaive::engine
