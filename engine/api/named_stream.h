// NamedStream: the sentence that a step of a stream with a name fails to compile with. Steps of joins have one, too.
//
// A step uses its stream up, so that a query's functions move along with it: it is called on what the step before
// returns. A stream that has a name is moved or copied first; a copy is the same stream, whose source is read once.
//
//   auto clicks = From(events).Filter(&IsClick);
//   clicks.Map(&PageOf)                 does not compile
//   std::move(clicks).Map(&PageOf)      the stream is used up
//   Stream(clicks).Map(&PageOf)         a copy
#pragma once

#include <concepts>
#include <memory>

#include "engine/api/wrong_order.h"
#include "engine/executor/query.h"

namespace glaive::engine {

/// What a step of a stream with a name returns. Macros define the steps, and compilers print three lines for each macro
/// that an assertion is in: so it is here.
template <typename... Arguments>
WrongOrder OfNamedStream() {
  static_assert(kNever<Arguments...>,
                "glaive: a step uses its stream up, and this stream has a name: go on with std::move(stream), or with "
                "Stream(stream), a copy");
  return {};
}

/// What a step of a join with a name returns.
template <typename... Arguments>
WrongOrder OfNamedJoin() {
  static_assert(kNever<Arguments...>,
                "glaive: a step uses its join up, and this join has a name: go on with std::move(join)");
  return {};
}

/// What a step returns that was called with arguments which it does not take.
template <typename... Arguments>
WrongOrder OfOtherArguments() {
  static_assert(
      kNever<Arguments...>,
      "glaive: this step takes other arguments (docs/writing-queries.md lists them), and a stream that is not "
      "const");
  return {};
}

#define GLAIVE_STEP_OF_NAMED_STREAM(name, unused) \
  template <typename... Arguments>                \
  WrongOrder name(const Arguments&...) const& {   \
    return OfNamedStream<Arguments...>();         \
  }                                               \
  template <typename... Arguments>                \
  WrongOrder name(const Arguments&...) const&& {  \
    return OfOtherArguments<Arguments...>();      \
  }

/// Likewise for a join, in the class that has the step.
#define GLAIVE_STEP_OF_NAMED_JOIN(name)          \
  template <typename... Arguments>               \
  WrongOrder name(const Arguments&...) const& {  \
    return OfNamedJoin<Arguments...>();          \
  }                                              \
  template <typename... Arguments>               \
  WrongOrder name(const Arguments&...) const&& { \
    return OfOtherArguments<Arguments...>();     \
  }

/// What streams and joins inherit: they are no query yet.
struct WithoutSink {
  template <std::derived_from<Query> Q>
  operator std::unique_ptr<Q>() const {  // NOLINT(google-explicit-constructor): it only says what is missing
    static_assert(kNever<Q>, "glaive: a query ends in a sink: call To(...), such as To(Csv{path}) or To(results)");
    return nullptr;
  }
};

/// What streams inherit, which take their steps from it by GLAIVE_USES_NAMED. Steps that convert their arguments are
/// not among them: a call of such a step would be ambiguous.
struct NamedStream : WithoutSink {
  GLAIVE_GENERIC_STEPS_BEFORE_KEYS(GLAIVE_STEP_OF_NAMED_STREAM, )
  GLAIVE_STEPS_WITH_STATE(GLAIVE_STEP_OF_NAMED_STREAM, )
  GLAIVE_STEP_OF_NAMED_STREAM(JoinTable, )
  GLAIVE_STEP_OF_NAMED_STREAM(KeyBy, )
  GLAIVE_STEP_OF_NAMED_STREAM(Partition, )
  GLAIVE_STEP_OF_NAMED_STREAM(Unkey, )
  GLAIVE_STEP_OF_NAMED_STREAM(DropKey, )
  GLAIVE_STEP_OF_NAMED_STREAM(Window, )
  GLAIVE_STEP_OF_NAMED_STREAM(LateTo, )
  GLAIVE_STEP_OF_NAMED_STREAM(Aggregate, )
  GLAIVE_STEP_OF_NAMED_STREAM(Process, )
  GLAIVE_STEP_OF_NAMED_STREAM(To, )
};

}  // namespace glaive::engine

#define GLAIVE_USES_NAMED(name, unused) using ::glaive::engine::NamedStream::name;
