// expect: glaive: On() needs keys without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::string_view NameOf(const Click&);

auto query = TwoStreams().On(&NameOf, &NameOf).Window(Tumbling{absl::Seconds(1)});

}  // namespace glaive::engine
