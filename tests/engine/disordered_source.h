// DisorderedSource: a workload's records out of order, with watermarks that allow for some of the disorder or all of
// it.
//
// Lateness is judged by batches: what holds for a record is the watermark after the batch before its own. An oracle
// gets both from ForEachRecord.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/source/source.h"
#include "tests/engine/cluster_harness.h"
#include "tests/state/test_hash.h"

namespace glaive::engine {

struct Disorder {
  std::int64_t range_ms = 0;  // how far a record's time may lie behind
  std::int64_t bound_ms = 0;  // how far the watermark does; less than the range makes late records
  std::size_t batch_records = 37;
};

class DisorderedSource final : public Source<TestRecord> {
 public:
  DisorderedSource(const Workload& workload, const Disorder& disorder, std::uint32_t executor) : disorder_(disorder) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      TestRecord record = MakeRecord(workload, executor, number);
      const auto draw = static_cast<std::int64_t>(state::kTestHash(number * 1000 + executor) >> 33);
      record.event_time_ms -= disorder.range_ms == 0 ? 0 : draw % disorder.range_ms;
      records_.push_back(record);
    }
  }

  SourceBatch<TestRecord> Poll() override {
    const std::span<const TestRecord> left = std::span<const TestRecord>(records_).subspan(position_);
    const std::span<const TestRecord> batch = left.first(std::min(disorder_.batch_records, left.size()));
    position_ += batch.size();
    for (const TestRecord& record : batch) {
      watermark_ms_ = std::max(watermark_ms_, record.event_time_ms - disorder_.bound_ms);
    }
    return {.records = batch,
            .watermark_ms = watermark_ms_,
            .ended = position_ == records_.size(),
            .in_order = std::ranges::is_sorted(batch, {}, &TestRecord::event_time_ms)};
  }

 private:
  Disorder disorder_;
  std::vector<TestRecord> records_;
  std::size_t position_ = 0;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
};

/// What to read such records with: one to three nodes, and every batch is an epoch.
inline std::vector<Workload> DisorderedWorkloads(std::uint64_t keys) {
  std::vector<Workload> workloads;
  for (const auto& [nodes, executors] : {std::pair(1U, 1U), std::pair(2U, 1U), std::pair(2U, 2U), std::pair(3U, 1U)}) {
    Workload workload{
        .nodes = nodes, .executors = executors, .records = 4'000, .keys = keys, .span_ms = 20'000, .slot_bytes = 1024};
    workload.epochs = {.epoch_bytes = 1, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
    workloads.push_back(workload);
  }
  return workloads;
}

/// For From().
inline auto DisorderedRecords(const Workload& workload, const Disorder& disorder) {
  const auto open = [workload,
                     disorder](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<DisorderedSource>(workload, disorder, Value(context.executor));
  };
  return SourceSpec<TestRecord, decltype(kTestEventTime)>{.open = open, .event_time_ms = kTestEventTime};
}

/// What a record is judged by where windows wait for late records: the watermark, that much earlier.
inline std::int64_t AfterLateness(std::int64_t watermark_ms, std::int64_t lateness_ms) {
  return watermark_ms == kMinEventTimeMs ? watermark_ms : watermark_ms - lateness_ms;
}

/// Calls `visit(record, watermark_ms)` for each record of each executor, with what the watermark was when it was read.
template <typename Visit>
void ForEachRecord(const Workload& workload, const Disorder& disorder, const Visit& visit) {
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    DisorderedSource source(workload, disorder, executor);
    std::int64_t watermark_ms = kMinEventTimeMs;
    for (bool ended = false; !ended;) {
      const SourceBatch<TestRecord> batch = source.Poll();
      for (const TestRecord& record : batch.records) {
        visit(record, watermark_ms);
      }
      watermark_ms = batch.watermark_ms;
      ended = batch.ended;
    }
  }
}

}  // namespace glaive::engine
