#include "engine/api/join.h"
#include "tests/fuzz/merge/queries.h"

namespace glaive::engine {

namespace {

template <typename Window>
auto Joined(Window window) {
  return Join(From(Ticks()), From(Ticks())).On(&Tick::key, &Tick::key).Window(window);
}

}  // namespace

void AddJoins(Queries& queries) {
  queries.push_back(Joined(Tumbling{absl::Milliseconds(20)}).To(Discard{}));
  queries.push_back(Joined(Session{absl::Milliseconds(15)}).To(Discard{}));
  queries.push_back(Joined(Unbounded{}).To(Discard{}));
}

}  // namespace glaive::engine
