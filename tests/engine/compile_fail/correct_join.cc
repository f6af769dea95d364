// expect: nothing
#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/api/zip.h"
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

auto without_partner = AntiJoin(Clicks(), Clicks())
                           .On(&Click::page, &Click::page)
                           .Local(HashJoin{})
                           .Window(Tumbling{absl::Seconds(1)})
                           .Keep(&Click::time_ms)
                           .To(Discard{});

auto by_the_clock = OnPages()
                        .Ship(BothByKey{})
                        .Local(HashJoin{})
                        .Window(ProcessingTime(Session{absl::Seconds(1)}))
                        .Keep(&Click::time_ms, &Click::price)
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

// Joins without event times, and a join without Keep as a stream.
auto numbers = Join(FromRange(0, 9), Join(FromRange(0, 9), Clicks())
                                         .On(std::identity(), &Click::page)
                                         .Window(Unbounded{})
                                         .Keep(std::identity(), &Click::page))
                   .On(std::identity(), [](const auto& row) { return row.key; })
                   .Window(Unbounded{})
                   .Keep(std::identity(), [](const auto& row) { return std::get<1>(row.value); })
                   .To(Discard{});

auto joined =
    LeftJoin(SemiJoin(Clicks(), Clicks()).On(&Click::page, &Click::page).Window(Tumbling{absl::Seconds(1)}), Clicks())
        .On([](const auto& row) { return row.key; }, &Click::page)
        .Window(Tumbling{absl::Seconds(1)})
        .Keep([](const auto& row) { return row.value.price; }, &Click::price)
        .To(Discard{});

auto pages = OnPages().Window(Tumbling{absl::Seconds(1)});
auto moved = std::move(pages).Map([](const auto& row) { return row.key; }).To(Discard{});

}  // namespace glaive::engine
