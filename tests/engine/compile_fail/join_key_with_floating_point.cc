// expect: glaive: On() needs keys without padding, pointers or floating-point numbers
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = TwoStreams().On(&Click::price, &Click::price);

}  // namespace glaive::engine
