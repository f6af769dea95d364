// The memory that a join takes while it fires is state: it is planned, limited and reported like the tuples themselves.

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {
namespace {

constexpr std::uint32_t kSplitBits = 12;

/// The most state of a run that joins many tuples, in one window, with `right_records` others.
std::uint64_t StateBytesOfJoin(std::uint64_t right_records, std::uint64_t limit_bytes, absl::Status& status) {
  Workload left{.records = 100'000, .keys = std::uint64_t{1} << 32, .span_ms = 1'000};
  left.thresholds.split_bits = kSplitBits;
  left.state_limit_bytes = limit_bytes;
  Workload right = left;
  right.seed = 2;
  right.records = right_records;
  const std::unique_ptr<Query> query = Join(From(TestSource(left)), From(TestSource(right)))
                                           .On(&TestRecord::key, &TestRecord::key)
                                           .Window(Tumbling{absl::Seconds(10)})
                                           .Keep(&TestRecord::kind, &TestRecord::kind)
                                           .To(Discard{});
  ClusterOutcome outcome;
  status = RunExecutors(left, *query, 1, outcome.metrics);
  return Total(outcome, &ExecutorMetrics::state_bytes);
}

// The left side is split into logs. The right side is too small for that, so each log of the left side has a list of
// pointers into the right side's only log.
TEST(JoinMemory, PointersIntoTheSmallSideAreState) {
  constexpr std::uint64_t kFewRecords = 20'000;                // some for each log; 32 bytes each
  constexpr std::uint64_t kTupleBytes = 2 * 32 * kFewRecords;  // with the part of a block that is not filled
  constexpr std::uint64_t kPointerBytes = std::uint64_t{4096} << kSplitBits;  // a block for each log
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;
  absl::Status status;
  const std::uint64_t alone = StateBytesOfJoin(1, kEnough, status);
  ASSERT_TRUE(status.ok()) << status;
  const std::uint64_t with_pointers = StateBytesOfJoin(kFewRecords, kEnough, status);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GE(with_pointers, alone + kPointerBytes * 9 / 10);
  EXPECT_LE(with_pointers, alone + kPointerBytes + kTupleBytes);
  StateBytesOfJoin(kFewRecords, alone + kPointerBytes / 2, status);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << "there is a limit to them, too: " << status;
}

}  // namespace
}  // namespace glaive::engine
