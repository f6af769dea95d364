#include "tests/fuzz/exchange/queries.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::engine {
namespace {

struct Named {
  std::uint64_t key;
  Text name;
  std::optional<Text> other;
};
GLAIVE_RECORD(Named, key, name, other)

Named ToNamed(const Tick& tick) {
  constexpr std::array<std::string_view, 2> kNames = {"short", "a name that lies elsewhere"};
  const Text name(kNames[tick.key]);
  return {.key = tick.key, .name = name, .other = tick.time_ms % 20 == 0 ? std::optional(name) : std::nullopt};
}

}  // namespace

Queries ExchangeQueries() {
  const Tumbling window{absl::Milliseconds(20)};
  Queries queries;
  queries.push_back(From(Ticks()).Shuffle().To(Discard{}));
  queries.push_back(From(Ticks()).Map(&ToNamed).Broadcast().To(Discard{}));
  queries.push_back(From(Ticks()).KeyBy(&Tick::key).Partition().Window(window).Aggregate(Count{}).To(Discard{}));
  queries.push_back(From(Ticks())
                        .Map(&ToNamed)
                        .KeyBy(&Named::name)
                        .Partition()
                        .Window(Session{absl::Milliseconds(15)})
                        .Aggregate(Max{&Named::name})
                        .To(Discard{}));
  queries.push_back(From(Ticks()).KeyBy(&Tick::key).Window(CountWindow{.size = 3}).Aggregate(Count{}).To(Discard{}));
  queries.push_back(From(Ticks()).Shuffle().Reorder().OnExecutors(1).To(Discard{}));  // two exchanges
  return queries;
}

}  // namespace glaive::engine
