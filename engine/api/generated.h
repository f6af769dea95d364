// FromRange, FromParallel and FromQueue: streams of records that the program makes itself. They have no event times.
//
// No record moves: each executor has those that it makes, or that it takes out of its node's queue.
//
//   FromRange(1, 1'000'001)                               // the numbers 1 to 1,000,000
//       .Map([](std::uint64_t n) { return n * n; })
//       .Aggregate(Sum{[](std::uint64_t square) { return square; }})
//       .To(Collect(rows));
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/api/stream.h"
#include "engine/source/pulled_source.h"
#include "engine/source/record_queue.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// The stream of the records that each executor generates: `make(context)`, a SourceContext that says which executor it
/// is, returns a function that is called until the optional that it returns is empty. `make` is called by each
/// executor's thread, maybe at the same time.
template <typename Make>
auto FromParallel(Make make) {
  using Next = std::invoke_result_t<const Make&, const SourceContext&>;
  constexpr bool kGivesOptionals = kIsOptional<std::remove_cvref_t<std::invoke_result_t<Next&>>>;
  static_assert(kGivesOptionals,
                "glaive: FromParallel() takes a function that makes a function for each executor, which returns a "
                "std::optional of a record: the next one, or none at the end");
  if constexpr (kGivesOptionals) {
    using R = typename std::remove_cvref_t<std::invoke_result_t<Next&>>::value_type;
    return From(Pulled<R>(std::move(make)));
  } else {
    return WrongOrder{};
  }
}

/// The stream of the numbers from `first` to `end` - 1. Each executor has a share, of numbers that follow each other;
/// the shares differ by one number at most.
inline auto FromRange(std::uint64_t first, std::uint64_t end) {
  GLAIVE_CHECK(first <= end, "FromRange(", first, ", ", end, ") begins behind its end: swap the two");
  return FromParallel([first, end](const SourceContext& context) {
    __extension__ using Wide = unsigned __int128;
    const auto share = [&](std::uint64_t executor) {
      return first + static_cast<std::uint64_t>(Wide{end - first} * executor / context.executor_count);
    };
    return [next = share(Value(context.executor)),
            last = share(std::uint64_t{Value(context.executor)} + 1)]() mutable -> std::optional<std::uint64_t> {
      return next < last ? std::optional(next++) : std::nullopt;
    };
  });
}

/// The stream of the records that threads of the program push into `queue`, which outlives the run.
template <typename R>
auto FromQueue(RecordQueue<R>& queue) {
  return From(QueueSource(queue));
}

}  // namespace glaive::engine
