// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = OnPages()
                 .Window(Tumbling{absl::Seconds(1)})
                 .AllowedLateness(absl::Seconds(1))
                 .Keep(&Click::time_ms, &Click::price)
                 .KeyBy([](const auto& row) { return row.key; })
                 .Window(Tumbling{absl::Minutes(1)})
                 .Aggregate(Count{})
                 .To(Discard{});

auto left_alone = SemiJoin(Clicks(), Clicks())
                      .On(&Click::page, &Click::page)
                      .Window(Tumbling{absl::Seconds(1)})
                      .Keep(&Click::time_ms)
                      .To(Discard{});

auto near_each_other = TwoStreams()
                           .Within(absl::Seconds(-1), absl::Seconds(1))
                           .Keep(&Click::time_ms, &Click::price)
                           .Filter([](const auto& row) { return std::get<1>(row.value) > 0; })
                           .To(Discard{});

auto small_right = OnPages()
                       .Ship(RightToAll{})
                       .Local(SortMerge{})
                       .Window(Tumbling{absl::Seconds(1)})
                       .Keep(&Click::time_ms, &Click::price)
                       .To(Discard{});

}  // namespace glaive::engine
