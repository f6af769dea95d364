#include <array>
#include <optional>
#include <string_view>

#include "engine/api/join.h"
#include "state/record/text.h"
#include "tests/fuzz/merge/queries.h"

namespace glaive::engine {
namespace {

Text NameOf(const Tick& tick) {
  constexpr std::array<std::string_view, 2> kNames = {"short", "a name that lies elsewhere"};
  return Text(kNames[tick.key]);
}
std::optional<Text> MaybeNameOf(const Tick& tick) {
  return tick.time_ms % 20 == 0 ? std::optional(NameOf(tick)) : std::nullopt;
}

}  // namespace

void AddTexts(Queries& queries) {
  queries.push_back(
      From(Ticks()).KeyBy(&NameOf).Window(Tumbling{absl::Milliseconds(20)}).Aggregate(Count{}).To(Discard{}));
  queries.push_back(From(Ticks()).KeyBy(&Tick::key).Window(Unbounded{}).Aggregate(Distinct{&NameOf}).To(Discard{}));
  queries.push_back(Join(From(Ticks()), From(Ticks()))
                        .On(&NameOf, &NameOf)
                        .Window(Session{absl::Milliseconds(15)})
                        .Keep(&Tick::time_ms, &Tick::time_ms)
                        .To(Discard{}));
  queries.push_back(From(Ticks())
                        .KeyBy(&Tick::key)
                        .Window(Sliding{absl::Milliseconds(30), absl::Milliseconds(10)})
                        .Aggregate(Several{TopK<2>(&NameOf), Last{&Tick::time_ms, &NameOf}})
                        .To(Discard{}));
  queries.push_back(
      From(Ticks()).KeyBy(&NameOf).Window(Session{absl::Milliseconds(15)}).Aggregate(Max{&NameOf}).To(Discard{}));
  queries.push_back(Join(From(Ticks()), From(Ticks()))
                        .On(&Tick::key, &Tick::key)
                        .Window(Unbounded{})
                        .Keep(&MaybeNameOf, &NameOf)
                        .To(Discard{}));
}

}  // namespace glaive::engine
