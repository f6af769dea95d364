// expect: glaive: Sum{}, Mean{} and Variance{} read numbers of up to 64 bits; a Text or a struct is none:
// name a member that is one, or make one in a lambda
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Window(Tumbling{absl::Seconds(1)}).Aggregate(Several{Count{}, Sum{[](const Click&) {
                                                                                        return Text("page");
                                                                                      }}});

}  // namespace glaive::engine
