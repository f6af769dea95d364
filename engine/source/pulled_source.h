// PulledSource: a source of the records that a function returns, one at a time, until it returns none.
//
// What moves: nothing. The records have no event times. Each executor has a function of its own. The executor's thread
// calls it up to 4,096 times in a turn, so it must be quick, and must not wait. Texts of a record must be valid until
// the next call.
//
//   const auto source = Pulled<std::uint64_t>([](const SourceContext& context) {
//     return [next = std::uint64_t{Value(context.executor)}]() mutable -> std::optional<std::uint64_t> {
//       return next < 100 ? std::optional(next++) : std::nullopt;
//     };
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/flow/batch.h"
#include "engine/source/source.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

template <typename R, typename Next>
class PulledSource final : public Source<R> {
 public:
  explicit PulledSource(Next next) : next_(std::move(next)) { records_.reserve(kMostMadeAtOnce<R>); }

  SourceBatch<R> Poll() override {
    records_.clear();
    texts_.Clear();
    while (records_.size() < kMostMadeAtOnce<R> && !ended_) {
      if (std::optional<R> record = next_()) {
        records_.push_back(texts_.Own(*record));
      } else {
        ended_ = true;
      }
    }
    return {.records = records_, .ended = ended_};
  }

 private:
  Next next_;
  std::vector<R> records_;  // of the last batch
  state::TextArena texts_;
  bool ended_ = false;
};

/// A source of the records that `make(context)()` returns: an optional, which is empty at the end and not asked again.
template <typename R, typename Make>
SourceSpec<R, NoEventTime> Pulled(Make make) {
  return {.open = [make = std::move(make)](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<R>>> {
            auto next = make(context);
            return std::make_unique<PulledSource<R, decltype(next)>>(std::move(next));
          },
          .event_time_ms = {},
          .memory_bytes = kMostMadeAtOnce<R> * sizeof(R)};
}

}  // namespace glaive::engine
