// The hand-written YSB loop that the engine is measured against: one thread, no engine code, no prefetching.
//
// It does what the query does, on the same bytes: keep views, join ad to campaign (yahoo), count per key in tumbling
// windows of event time, emit every (window, key, count) at a window's end to a sink that keeps totals, and start the
// next window empty. What makes it fast: views are picked out without a branch, some hundred records at a time; keys
// live in open addressing with 16-byte slots on huge pages; the table is only as large as the windows so far needed,
// so that emitting by a scan over it stays cheap. Everything is mapped and touched before the first record.
//
// Requires: event times never decrease within a block, keys are never 0. Owned and used by one thread.
//
//   absl::StatusOr<YsbLoop> loop = YsbLoop::Create({.profile = Profile::kSlash, .keys = 10'000'000});
//   BaselineResult result = loop->Run(events, /*repetitions=*/4, /*block_span_ms=*/6'000'000);
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/count_table.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/result_row.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::bench {

struct BaselineOptions {
  queries::ysb::Profile profile = queries::ysb::Profile::kSlash;
  std::int64_t window_ms = queries::ysb::kSlashWindowMs;
  std::uint64_t keys = 10'000'000;  // the most distinct keys of a window; reserves 40 to 80 bytes each
};

struct BaselineResult {
  std::uint64_t records = 0;
  std::uint64_t views = 0;  // that were counted
  queries::ysb::Totals emitted;
};

/// See the head of this file.
class YsbLoop {
 public:
  static absl::StatusOr<YsbLoop> Create(const BaselineOptions& options);

  /// Runs the query over `block`, `repetitions` times, and ends the stream. Event time moves on by `block_span_ms`, a
  /// multiple of the window, with each repetition.
  BaselineResult Run(std::span<const queries::ysb::YsbEvent> block, std::uint64_t repetitions,
                     std::int64_t block_span_ms);

 private:
  YsbLoop(const BaselineOptions& options, CountTable counts) : options_(options), counts_(std::move(counts)) {}

  template <queries::ysb::Profile kProfile>
  BaselineResult RunProfile(std::span<const queries::ysb::YsbEvent> block, std::uint64_t repetitions,
                            std::int64_t block_span_ms);

  BaselineOptions options_;
  CountTable counts_;
  queries::ysb::CampaignTable campaigns_;
};

}  // namespace glaive::bench
