// expect: glaive: Aggregate() takes an aggregate of the stream's records, such as Count{}; what Distinct{} counts could
// be a key
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct LongestName {
  using Input = const char*;

  void Update(const char*) {}
  void Merge(const LongestName&) {}
  int Result() const { return 0; }

  friend bool operator==(const LongestName&, const LongestName&) = default;

  const char* longest = nullptr;
};

struct Longest {
  template <typename R>
  using Value = LongestName;

  template <typename R>
  const char* Input(const R&) const {
    return "";
  }
};

auto query = Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Longest{});

}  // namespace glaive::engine
