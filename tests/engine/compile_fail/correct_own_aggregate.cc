// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

/// Its members are no functions of a record.
struct OwnCount {
  template <typename R>
  using Value = state::CountValue;
  template <typename R>
  state::Nothing Input(const R&) const {
    return {};
  }

  int field = 3;
};

std::unique_ptr<Query> query = Clicks().KeyBy(&Click::page).Aggregate(OwnCount{}).To(Discard{});

}  // namespace glaive::engine
