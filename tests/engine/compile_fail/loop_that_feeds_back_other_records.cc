// expect: glaive: the body of Iterate() makes records of the type that it takes
#include "engine/api/generated.h"
#include "engine/api/loop.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Iterate(
                 FromRange(0, 9), {}, 0,
                 [](auto numbers, const auto&) { return std::move(numbers).Map([](std::uint64_t) { return 1.5; }); },
                 Count{}, [](int&, std::uint64_t) { return false; })
                 .state.To(Discard{});

}  // namespace glaive::engine
