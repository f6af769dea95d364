// --explain: what a query says of its plan, for each kind of vertex.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/text_words.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

auto Records() { return From(TestSource({.records = 1})); }

TEST(Explain, NamesVerticesChainsAndEdges) {
  const auto records = Records();
  const std::unique_ptr<Query> query =
      Union(Stream(records).Filter([](const TestRecord& record) { return record.kind == 0; }).Shuffle(),
            Stream(records).FlatMap([](const TestRecord& record) { return std::vector<TestRecord>{record}; }))
          .Map([](const TestRecord& record) { return record; })
          .Inspect([](const TestRecord&) {})
          .KeyBy(&TestRecord::key)
          .Window(Tumbling{absl::Seconds(10)})
          .Aggregate(Several{Count{}, Max{&TestRecord::event_time_ms}})
          .To(Discard{});
  EXPECT_EQ(query->Explain(Roles(2)), R"(each of 2 executors runs
   1  source
        with event times
   2  exchange of 1 (records of 24 bytes)
        fused chain: filter
        each record moves to all executors in turn, one each, with its event time
   3  flat map of 1 (records of 24 bytes)
        no steps before it
   4  union of 2 (records of 32 bytes) and 3 (records of 32 bytes)
        its watermark is the least of its streams'
   5  aggregation of 4 (records of 32 bytes)
        fused chain: map, inspect
        count, max, tumbling windows of 10s
        by a key of 8 bytes, merged late: entries of at most 24 bytes to the leaders of their keys
   6  sink of 5 (records of 40 bytes)
        no steps before it
)");
}

TEST(Explain, NamesBothSidesOfAJoin) {
  const std::unique_ptr<Query> query = LeftJoin(Records(), Records())
                                           .On(&TestRecord::key, &TestRecord::key)
                                           .Window(Sliding{absl::Seconds(10), absl::Seconds(5)})
                                           .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
                                           .To(Discard{});
  EXPECT_EQ(query->Explain(Roles(3)), R"(each of 3 executors runs
   1  source
        with event times
   2  source
        with event times
   3  left join of 1 (records of 24 bytes) and 2 (records of 24 bytes)
        sliding windows of 10s, one each 5s
        left: no steps before it
        left: by a key of 8 bytes, merged late: entries of at most 16 bytes to the leaders of their keys
        right: no steps before it
        right: by a key of 8 bytes, merged late: entries of at most 16 bytes to the leaders of their keys
   4  sink of 3 (records of 48 bytes)
        no steps before it
)");
}

TEST(Explain, OfOneExecutorNothingMoves) {
  const auto numbers = FromRange(0, 10);
  const std::unique_ptr<Query> query = Together(
      Stream(numbers).KeyBy([](std::uint64_t number) { return number; }).Partition().DropKey().To(Discard{}),
      Stream(numbers).WithEventTime([](std::uint64_t) { return std::int64_t{5}; }).Aggregate(Count{}).To(Discard{}));
  EXPECT_EQ(query->Explain(Roles(1)), R"(one executor runs
   1  source
        without event times
   2  exchange of 1 (records of 8 bytes)
        no steps before it
        records stay on the one executor
   3  event times of 1 (records of 8 bytes)
        no steps before it
        watermarks stay behind by 0 ms
   4  aggregation of 3 (records of 16 bytes)
        no steps before it
        count, no window
        all records together, in the executor's own state
   5  sink of 2 (records of 16 bytes)
        no steps before it
   6  sink of 4 (records of 32 bytes)
        no steps before it
)");
}

TEST(Explain, SaysThatRecordsArePartitioned) {
  const auto query = From(TestSource({})).KeyBy(&TestRecord::key).Aggregate(Count{}).To(Discard{});
  const std::string plan = query->Explain(Roles::Partitioned(4, 2, 1));
  EXPECT_THAT(plan, HasSubstr("each of 4 executors runs\n      2 of them read and partition records, and 2 have the "
                              "state of their keys\n"));
  EXPECT_THAT(plan, HasSubstr("by a key of 8 bytes, re-partitioned: each record as an entry of at most 16 bytes to the "
                              "executor that has the state of its key"));
  EXPECT_THAT(plan, Not(HasSubstr("merged late")));
}

TEST(Explain, SaysWhichExecutorsAreFed) {
  const auto query = From(TestSource({})).KeyBy(&TestRecord::key).Aggregate(Count{}).To(Discard{});
  const std::string plan = query->Explain(Roles::Fed(4, 4));
  EXPECT_THAT(plan, HasSubstr("each of 4 executors runs\n      2 of them read, and each streams all records to one of "
                              "the other 2\n"));
  EXPECT_THAT(plan, HasSubstr("merged late"));
}

TEST(Explain, SaysThatAStageMergesNothingBehindAnExchangeByKey) {
  const auto records = Records();
  const std::unique_ptr<Query> query = Together(Stream(records)
                                                    .KeyBy(&TestRecord::key)
                                                    .Partition()
                                                    .Window(Tumbling{absl::Seconds(1)})
                                                    .Aggregate(Count{})
                                                    .To(Discard{}),
                                                Join(Stream(records), Stream(records))
                                                    .On(&TestRecord::key, &TestRecord::key)
                                                    .Ship(RightToAll{})
                                                    .Local(SortMerge{})
                                                    .Window(Tumbling{absl::Seconds(1)})
                                                    .Keep(&TestRecord::kind, &TestRecord::kind)
                                                    .To(Discard{}));
  const std::string plan = query->Explain(Roles(2));
  EXPECT_THAT(plan, HasSubstr("each record moves to the leader of its key, with its event time\n"));
  EXPECT_THAT(plan, HasSubstr("each record moves to every executor, with its event time\n"));
  EXPECT_THAT(plan, HasSubstr(", by sorting\n"));
  EXPECT_THAT(plan, HasSubstr("        by a key of 8 bytes, in the executor's own state\n"));
  EXPECT_THAT(plan, HasSubstr("        left: by a key of 8 bytes, in the executor's own state\n"));
  EXPECT_THAT(plan, Not(HasSubstr("merged late")));
}

TEST(Explain, ShowsWhereStatesOfKeysLieAndThatRecordsMoveOnce) {
  const auto records = Records();
  const auto count = [](std::uint32_t& n, const TestRecord&) { ++n; };
  const std::unique_ptr<Query> query = Together(Stream(records)
                                                    .Filter([](const TestRecord& record) { return record.kind == 0; })
                                                    .KeyBy(&TestRecord::key)
                                                    .Partition()
                                                    .Scan(std::uint32_t{0}, count)
                                                    .To(Discard{}),
                                                Stream(records).Fold(std::uint32_t{0}, count).To(Discard{}));
  EXPECT_EQ(query->Explain(Roles(2)), R"(each of 2 executors runs
   1  source
        with event times
   2  exchange of 1 (records of 24 bytes)
        fused chain: filter
        each record moves to the leader of its key, with its event time
   3  scan of 2 (records of 32 bytes)
        a state of 4 bytes for each key of 8 bytes
        results behind each record
   4  exchange of 1 (records of 24 bytes)
        no steps before it
        each record moves to executor 0, with its event time
   5  fold of 4 (records of 32 bytes)
        a state of 4 bytes for all records
        one row each, at the end of the stream
   6  sink of 3 (records of 24 bytes)
        no steps before it
   7  sink of 5 (records of 32 bytes)
        no steps before it
)");
}

TEST(Explain, ShowsCopiesOfACachedStreamAndWhereEventTimesEnd) {
  const auto cached = Records().Cache().Map([](const TestRecord& record) { return record; }).Cache().Cache();
  const std::unique_ptr<Query> query =
      Together(Stream(cached).To(Discard{}), Stream(cached).WithoutEventTime().To(Discard{}));
  EXPECT_EQ(query->Explain(Roles(2)), R"(each of 2 executors runs
   1  source
        with event times
   2  cache of 1 (records of 24 bytes)
        fused chain: map
   3  no event times of 2 (records of 32 bytes)
        no steps before it
   4  sink of 2 (records of 32 bytes)
        no steps before it
   5  sink of 3 (records of 32 bytes)
        no steps before it
)");
}

TEST(Explain, SaysThatTextsMoveWithTheirRecords) {
  const std::unique_ptr<Query> query = Words({.records = 1}).KeyBy(&Word::key).Partition().DropKey().To(Discard{});
  EXPECT_EQ(query->Explain(Roles(2)), R"(each of 2 executors runs
   1  source
        with event times
   2  flat map of 1 (records of 24 bytes)
        no steps before it
   3  exchange of 2 (records of 40 bytes)
        no steps before it
        each record moves to the leader of its key, with its event time, and its texts
   4  sink of 3 (records of 40 bytes)
        no steps before it
)");
}

}  // namespace
}  // namespace glaive::engine
