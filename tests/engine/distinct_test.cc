// Distinct elements of each key over a cluster, with records out of order and late ones, against sets.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/reexecuted_death_test.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr Disorder kVisitDisorder{.range_ms = 1'500, .bound_ms = 200};

struct Visit {
  std::uint64_t page;
  std::uint32_t user;
  std::int64_t time_ms;
};

Visit VisitOf(const TestRecord& record) {
  return {.page = record.key,
          .user = static_cast<std::uint32_t>(record.event_time_ms * 7 % 23 + 23),
          .time_ms = record.event_time_ms};
}

// {window start, page} -> visits. Without a slide everything is of one window.
std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<Visit>> VisitsOf(const Workload& workload,
                                                                              std::int64_t size_ms,
                                                                              std::int64_t slide_ms) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<Visit>> visits;
  ForEachRecord(workload, kVisitDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const Visit visit = VisitOf(record);
    if (slide_ms == 0) {
      visits[{kMinEventTimeMs, visit.page}].push_back(visit);
      return;
    }
    for (std::int64_t start_ms = -100 * slide_ms; start_ms <= record.event_time_ms; start_ms += slide_ms) {
      if (start_ms + size_ms > record.event_time_ms && start_ms + size_ms > watermark_ms) {
        visits[{start_ms, visit.page}].push_back(visit);
      }
    }
  });
  return visits;
}

std::uint64_t UsersOf(const std::vector<Visit>& visits) {
  std::set<std::uint32_t> users;
  for (const Visit& visit : visits) users.insert(visit.user);
  return users.size();
}

TestCounts Sequential(const Workload& workload, std::int64_t size_ms, std::int64_t slide_ms) {
  TestCounts counts;
  for (const auto& [window_and_page, visits] : VisitsOf(workload, size_ms, slide_ms)) {
    counts[window_and_page] = UsersOf(visits);
  }
  return counts;
}

template <typename W>
void ExpectCounts(const W& window, std::int64_t size_ms, std::int64_t slide_ms) {
  for (Workload workload : DisorderedWorkloads(40)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    std::vector<std::vector<TestRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query = From(DisorderedRecords(workload, kVisitDisorder))
                                             .Map(VisitOf)
                                             .KeyBy(&Visit::page)
                                             .Window(window)
                                             .Aggregate(Distinct{&Visit::user})
                                             .To(Collect(rows));
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    CollectOutcome(rows, outcome);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    const TestCounts expected = Sequential(workload, size_ms, slide_ms);
    EXPECT_EQ(outcome.rows, outcome.counts.size()) << "a row was emitted twice";
    EXPECT_TRUE(SameElements(outcome.counts, expected));
    EXPECT_LT(Total(outcome, &ExecutorMetrics::results), outcome.metrics[0].records);
  }
}

TEST(Distinct, OfTumblingWindowsIsExact) { ExpectCounts(Tumbling{absl::Milliseconds(1'000)}, 1'000, 1'000); }

TEST(Distinct, OfSlidingWindowsIsExact) {
  ExpectCounts(Sliding{absl::Milliseconds(1'000), absl::Milliseconds(300)}, 1'000, 300);
}

TEST(Distinct, OfEverythingIsExact) { ExpectCounts(Unbounded{}, 0, 0); }

// Visits, users, and the greatest user with the time of the last visit: the values beside Distinct are those of all.
template <typename W>
void ExpectAllAtOnce(const W& window, std::int64_t size_ms, std::int64_t slide_ms) {
  using Users = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::int64_t>;
  for (Workload workload : DisorderedWorkloads(40)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    std::vector<std::vector<WindowResult<std::uint64_t, Users>>> rows(workload.executor_count());
    const std::unique_ptr<Query> query =
        From(DisorderedRecords(workload, kVisitDisorder))
            .Map(VisitOf)
            .KeyBy(&Visit::page)
            .Window(window)
            .Aggregate(Several{Count{}, Distinct{&Visit::user}, Max{&Visit::user}, Max{&Visit::time_ms}})
            .To(Collect(rows));
    std::vector<ExecutorMetrics> metrics;
    ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
    std::map<std::pair<std::int64_t, std::uint64_t>, Users> found;
    std::size_t count = 0;
    for (const auto& leader : rows) {
      for (const auto& row : leader) found[{row.window_start_ms, row.key}] = row.value;
      count += leader.size();
    }
    std::map<std::pair<std::int64_t, std::uint64_t>, Users> expected;
    for (const auto& [window_and_page, visits] : VisitsOf(workload, size_ms, slide_ms)) {
      Users& users = expected[window_and_page];
      users = {visits.size(), UsersOf(visits), std::ranges::max(visits, {}, &Visit::user).user,
               std::ranges::max(visits, {}, &Visit::time_ms).time_ms};
    }
    EXPECT_EQ(count, found.size()) << "a row was emitted twice";
    EXPECT_TRUE(SameElements(found, expected));
  }
}

TEST(Distinct, BesideOthersInTumblingWindowsIsExact) {
  ExpectAllAtOnce(Tumbling{absl::Milliseconds(1'000)}, 1'000, 1'000);
}

TEST(Distinct, BesideOthersInSlidingWindowsIsExact) {
  ExpectAllAtOnce(Sliding{absl::Milliseconds(1'000), absl::Milliseconds(300)}, 1'000, 300);
}

TEST(Distinct, BesideOthersOfEverythingIsExact) { ExpectAllAtOnce(Unbounded{}, 0, 0); }

// Every record is accepted or late, and each late one is in the sink of its reader once.
void ExpectEachRecordOnce(const Workload& workload, const std::vector<std::vector<LateRecord<Visit>>>& late,
                          const std::vector<ExecutorMetrics>& metrics) {
  for (std::size_t executor = 0; executor < late.size(); ++executor) {
    EXPECT_EQ(late[executor].size(), metrics[executor].late_records);
    EXPECT_EQ(metrics[executor].records_accepted + metrics[executor].late_records, workload.records);
  }
}

/// What a user has done on a page.
struct Action {
  std::uint8_t kind;
  std::uint8_t place;
  bool operator==(const Action&) const = default;
};
Action ActionOf(const Visit& visit) {
  return {.kind = static_cast<std::uint8_t>(visit.user % 2), .place = static_cast<std::uint8_t>(visit.time_ms % 3)};
}

/// 2 to 31 letters.
std::string_view UserNameOf(const Visit& visit) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyzabcdefghi";
  return kName.substr(static_cast<std::size_t>(visit.time_ms & 3), 2 + visit.user * 11 % 30);
}

// Users, visits, names, actions, the greatest user, and times by their lowest byte.
using Facets = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>;

Facets FacetsOf(const std::vector<Visit>& visits) {
  std::set<std::string> names;
  std::set<std::pair<std::uint8_t, std::uint8_t>> actions;
  std::set<std::uint8_t> times;
  for (const Visit& visit : visits) {
    names.emplace(UserNameOf(visit));
    actions.emplace(ActionOf(visit).kind, ActionOf(visit).place);
    times.insert(static_cast<std::uint8_t>(visit.time_ms));
  }
  return {UsersOf(visits), visits.size(), names.size(), actions.size(), std::ranges::max(visits, {}, &Visit::user).user,
          times.size()};
}

// Four of different types in one pass; each record updates an entry of each. A late record is late once.
template <typename W>
void ExpectFacets(const W& window, std::int64_t size_ms, std::int64_t slide_ms) {
  std::vector<Workload> workloads = DisorderedWorkloads(40);
  workloads.push_back(workloads.front());
  workloads.back().executors = 2;
  for (Workload workload : workloads) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    std::vector<std::vector<WindowResult<std::uint64_t, Facets>>> rows(workload.executor_count());
    std::vector<std::vector<LateRecord<Visit>>> late(workload.executor_count());
    const std::unique_ptr<Query> query =
        From(DisorderedRecords(workload, kVisitDisorder))
            .Map(VisitOf)
            .KeyBy(&Visit::page)
            .Window(window)
            .LateTo(Collect(late))
            .Aggregate(Several{Distinct{&Visit::user}, Count{},
                               Distinct{[](const Visit& visit) { return Text(UserNameOf(visit)); }},
                               Distinct{&ActionOf}, Max{&Visit::user},
                               Distinct{[](const Visit& visit) { return static_cast<std::uint8_t>(visit.time_ms); }}})
            .To(Collect(rows));
    std::vector<ExecutorMetrics> metrics;
    ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
    std::map<std::pair<std::int64_t, std::uint64_t>, Facets> found;
    std::size_t count = 0;
    for (const auto& leader : rows) {
      for (const auto& row : leader) found[{row.window_start_ms, row.key}] = row.value;
      count += leader.size();
    }
    std::map<std::pair<std::int64_t, std::uint64_t>, Facets> expected;
    for (const auto& [window_and_page, visits] : VisitsOf(workload, size_ms, slide_ms)) {
      expected[window_and_page] = FacetsOf(visits);
    }
    EXPECT_EQ(count, found.size()) << "a row was emitted twice";
    EXPECT_TRUE(SameElements(found, expected));
    ExpectEachRecordOnce(workload, late, metrics);
  }
}

TEST(Distinct, SeveralOfTumblingWindowsAreExact) { ExpectFacets(Tumbling{absl::Milliseconds(1'000)}, 1'000, 1'000); }

TEST(Distinct, SeveralOfSlidingWindowsAreExact) {
  ExpectFacets(Sliding{absl::Milliseconds(1'000), absl::Milliseconds(300)}, 1'000, 300);
}

TEST(Distinct, SeveralOfEverythingAreExact) { ExpectFacets(Unbounded{}, 0, 0); }

TEST(Distinct, WithoutAKeyHasOneResultAWindow) {
  const Workload workload = DisorderedWorkloads(5'000)[3];
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> rows(workload.executor_count());
  const std::unique_ptr<Query> query = From(DisorderedRecords(workload, kVisitDisorder))
                                           .Window(Unbounded{})
                                           .Aggregate(Distinct{&TestRecord::key})
                                           .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
  std::set<std::uint64_t> keys;
  ForEachRecord(workload, kVisitDisorder, [&](const TestRecord& record, std::int64_t) { keys.insert(record.key); });
  std::vector<std::uint64_t> results;
  for (const auto& leader : rows) {
    for (const auto& row : leader) results.push_back(row.value);
  }
  EXPECT_EQ(results, std::vector<std::uint64_t>{keys.size()});
}

using DistinctDeathTest = ReexecutedDeathTest;

TEST_F(DistinctDeathTest, OfUnboundedResultsIsForTheEndOnly) {
  EXPECT_DEATH((void)From(DisorderedRecords({}, {}))
                   .KeyBy(&TestRecord::key)
                   .Window(Unbounded{absl::Seconds(1)})
                   .Aggregate(Distinct{&TestRecord::kind}),
               "Distinct.* with Unbounded.*1s.*at the end only");
}

}  // namespace
}  // namespace glaive::engine
