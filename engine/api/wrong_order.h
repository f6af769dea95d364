// WrongOrder: the type with which a query whose steps are out of order fails to compile with one readable line.
//
// Each step of a query returns a type that has the steps that may come next. For all other steps, that type has
// functions whose static_assert says which step is missing. They return a WrongOrder, which takes any further step, so
// that the compiler stops at the first mistake instead of listing its consequences.
#pragma once

#include <cstddef>
#include <memory>

namespace glaive::engine {

/// False, but only once a template is instantiated with some types.
template <typename... T>
inline constexpr bool kNever = sizeof...(T) == static_cast<std::size_t>(-1);

/// Calls `each(name, argument)` for the steps that only a stream without a key may have, that use it up, and whose
/// arguments are converted to no other type. A message calls each of the three lists by itself, since compilers print
/// three lines for each level of macros, twice.
#define GLAIVE_GENERIC_STEPS_BEFORE_KEYS(each, argument)                                                               \
  each(Filter, argument) each(Map, argument) each(FilterMap, argument) each(FlatMap, argument) each(Flatten, argument) \
      each(Inspect, argument) each(WithEventTime, argument) each(WithProcessingTime, argument)                         \
          each(WithoutEventTime, argument) each(MapWithTime, argument) each(Shuffle, argument)                         \
              each(Broadcast, argument) each(Cache, argument)

/// Likewise, for the others that only a stream without a key may have.
#define GLAIVE_OTHER_STEPS_BEFORE_KEYS(each, argument) \
  each(OnExecutors, argument) each(Limit, argument) each(Route, argument)

/// Likewise, for those that streams have with and without a key: their state is the key's, or that of all records.
#define GLAIVE_STEPS_WITH_STATE(each, argument)                                                          \
  each(RichMap, argument) each(RichFilterMap, argument) each(RichFlatMap, argument) each(Scan, argument) \
      each(Fold, argument) each(Reduce, argument) each(FoldAssoc, argument) each(ReduceAssoc, argument)  \
          each(Unique, argument) each(Reorder, argument)

/// Likewise, for all steps that a stream may have before Window().
#define GLAIVE_STREAM_STEPS(each, argument)        \
  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(each, argument) \
  GLAIVE_OTHER_STEPS_BEFORE_KEYS(each, argument)   \
  GLAIVE_STEPS_WITH_STATE(each, argument)

/// Defines the step `name`, which takes anything and leads nowhere.
#define GLAIVE_STEP_OF_WRONG_ORDER(name, unused) \
  template <typename... Arguments>               \
  WrongOrder name(const Arguments&...) const {   \
    return {};                                   \
  }

/// What a step that may not come returns.
struct WrongOrder {
  GLAIVE_STREAM_STEPS(GLAIVE_STEP_OF_WRONG_ORDER, )
  GLAIVE_STEP_OF_WRONG_ORDER(KeyBy, )
  GLAIVE_STEP_OF_WRONG_ORDER(Partition, )
  GLAIVE_STEP_OF_WRONG_ORDER(Unkey, )
  GLAIVE_STEP_OF_WRONG_ORDER(DropKey, )
  GLAIVE_STEP_OF_WRONG_ORDER(Window, )
  GLAIVE_STEP_OF_WRONG_ORDER(AllowedLateness, )
  GLAIVE_STEP_OF_WRONG_ORDER(LateTo, )
  GLAIVE_STEP_OF_WRONG_ORDER(Aggregate, )
  GLAIVE_STEP_OF_WRONG_ORDER(Process, )
  GLAIVE_STEP_OF_WRONG_ORDER(To, )
  GLAIVE_STEP_OF_WRONG_ORDER(On, )
  GLAIVE_STEP_OF_WRONG_ORDER(Within, )
  GLAIVE_STEP_OF_WRONG_ORDER(Ship, )
  GLAIVE_STEP_OF_WRONG_ORDER(Local, )
  GLAIVE_STEP_OF_WRONG_ORDER(Keep, )
  GLAIVE_STEP_OF_WRONG_ORDER(JoinTable, )

  /// What To() returns.
  template <typename Q>
  operator std::unique_ptr<Q>() const {  // NOLINT(google-explicit-constructor): a query is declared as this type
    return nullptr;
  }
};

}  // namespace glaive::engine

/// Defines the step `name` of a type where it may not come: compiling it fails with `message`.
#define GLAIVE_WRONG_ORDER(name, message)                           \
  template <typename... Arguments>                                  \
  ::glaive::engine::WrongOrder name(const Arguments&...) const {    \
    static_assert(::glaive::engine::kNever<Arguments...>, message); \
    return {};                                                      \
  }

/// Likewise, with a message that begins with the step: "glaive: Map() " `message`. It does not use GLAIVE_WRONG_ORDER,
/// which would be one more level of macros.
#define GLAIVE_WRONG_STREAM_STEP(name, message)                                            \
  template <typename... Arguments>                                                         \
  ::glaive::engine::WrongOrder name(const Arguments&...) const {                           \
    static_assert(::glaive::engine::kNever<Arguments...>, "glaive: " #name "() " message); \
    return {};                                                                             \
  }
