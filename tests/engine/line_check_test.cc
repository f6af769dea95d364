#include "engine/cluster/line_check.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/executor/query.h"
#include "engine/sink/results.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using CsvLines = std::vector<std::string>;

/// A run of one executor a node, each with its rows; what all nodes come to.
absl::Status CheckNodes(const CsvLines& expected, const std::vector<CsvLines>& nodes) {
  const auto expect = [&](std::uint32_t reader_count) {
    EXPECT_EQ(reader_count, nodes.size());
    return expected;
  };
  const auto lines = std::make_shared<RetainedLines>();
  lines->by_executor = nodes;
  LineCheck check(expect, lines);
  std::vector<std::string> findings;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const RunFacts facts{.roles = Roles(static_cast<std::uint32_t>(nodes.size())),
                         .records_read = std::vector<std::uint64_t>(nodes.size()),
                         .executors = {ExecutorId{node}},
                         .key_hash = {}};
    const absl::StatusOr<std::string> finding = check.CheckNode(facts, GoOn);
    if (!finding.ok()) {
      return finding.status();
    }
    findings.push_back(*finding);
  }
  return check.CheckRun(findings);
}

std::string Complaint(const CsvLines& expected, const std::vector<CsvLines>& nodes) {
  const absl::Status status = CheckNodes(expected, nodes);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  return std::string(status.message());
}

TEST(LineCheck, TakesTheTrueRowsInAnyOrderFromAnyNode) {
  EXPECT_EQ(CheckNodes({"1,2", "1,2", "3,4"}, {{"3,4", "1,2", "1,2"}}), absl::OkStatus());
  EXPECT_EQ(CheckNodes({"1,2", "1,2", "3,4"}, {{"1,2"}, {}, {"3,4", "1,2"}}), absl::OkStatus());
  EXPECT_EQ(CheckNodes({}, {{}}), absl::OkStatus());
}

TEST(LineCheck, NamesRowsThatAreWrongOrMissingOrComeTooOften) {
  EXPECT_EQ(Complaint({"1", "2"}, {{"1", "3"}}), "the row '2' is missing, '3' is wrong");
  EXPECT_EQ(Complaint({"1", "2"}, {{"1", "2", "2"}}), "the row '2' comes too often");
  EXPECT_EQ(Complaint({"1", "2"}, {{"1"}, {"3"}}), "the row '3' is wrong");
}

TEST(LineCheck, NamesSomeRowsOfMany) {
  EXPECT_THAT(Complaint({}, {{"1", "2", "3", "4", "5"}}),
              AllOf(HasSubstr("'3' is wrong (5 in all)"), Not(HasSubstr("'4'"))));
}

TEST(LineCheck, FindsRowsThatNoNodeOrThatTwoNodesHave) {
  EXPECT_EQ(Complaint({"1", "2"}, {{"1"}, {}}), "all nodes together have 1 rows, and 2 are true");
  EXPECT_EQ(Complaint({"1", "2"}, {{"1"}, {"1"}}), "a row comes at two nodes, and another one is missing");
  EXPECT_EQ(Complaint({"1"}, {{"1"}, {"1"}}), "all nodes together have 2 rows, and 1 are true");
}

TEST(Results, RetainsRowsAsTheCsvFileWouldHaveThem) {
  const auto lines = std::make_shared<RetainedLines>();
  lines->by_executor.resize(2);
  const Results results("", lines);
  using Row = WindowResult<std::uint64_t, double>;
  const auto sink = results.Factory<Row>()({.executor = ExecutorId{1}});
  ASSERT_TRUE(sink.ok()) << sink.status();
  const std::vector<Row> rows = {{.window_start_ms = 0, .window_end_ms = 5, .key = 7, .value = 0.5}};
  EXPECT_EQ((*sink)->Write(rows), absl::OkStatus());
  EXPECT_THAT(lines->by_executor, ElementsAre(ElementsAre(), ElementsAre("0,5,7,0.5")));
}

TEST(Results, RefusesMoreRowsThanTheMemoryOfACheckHolds) {
  const auto lines = std::make_shared<RetainedLines>();
  lines->by_executor.resize(1);
  lines->bytes_left = 200;
  const auto sink = Results("", lines).Factory<std::uint64_t>()({.executor = ExecutorId{0}});
  ASSERT_TRUE(sink.ok()) << sink.status();
  const std::vector<std::uint64_t> rows(10);
  const absl::Status status = (*sink)->Write(rows);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("verify a shorter stream"));
}

}  // namespace
}  // namespace glaive::engine
