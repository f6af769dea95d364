// expect: glaive: an aggregate reads no Text; texts can be keys, and Distinct{} counts them
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Several{Count{}, Max{[](const Click&) {
                                                                                        return Text("page");
                                                                                      }}});

}  // namespace glaive::engine
