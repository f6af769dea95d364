// BlockSource: a block of records in memory, read once or repeated.
//
// The benchmarks' input (paper section 8.1.2): generated into memory before the clock starts, so that what is
// measured is the engine. Each repetition moves event time on by the span of the block, a whole number of windows, so
// the stream goes on without a seam. Owned by its executor.
//
// Whether the block is in order of event time is found out at creation, so that no batch has to be scanned.
//
// A source can fall silent, to see what becomes of the others: options.silent_after_records.
//
// The block lies in large pages where the system has them. Poll costs a few instructions a batch, and with a rate or a
// deadline one reading of the clock.
//
//   BlockSourceOptions options{.block_records = 1 << 20, .total_records = 10 << 20, .span_ms = 600'000};
//   auto source = BlockSource<Event>::Create(options, clock, generate, event_time_ms);
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/source/schedule.h"
#include "engine/source/source.h"
#include "rdma/base/prefetch.h"
#include "rdma/base/watch.h"
#include "rdma/memory/page_region.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

struct BlockSourceOptions {
  std::uint64_t block_records = 0;                                          // records in memory, at least 1
  std::uint64_t total_records = std::numeric_limits<std::uint64_t>::max();  // records to read before the stream ends
  std::int64_t duration_ns = std::numeric_limits<std::int64_t>::max();      // time from the first Poll to the end
  std::int64_t span_ms = 0;         // event time that the block covers: what a repetition adds
  double records_per_second = 0;    // the pace; 0: as fast as the engine reads
  std::uint64_t batch_records = 0;  // the most of a batch; 0: about 64 KiB of them
  /// 0: records come in order of event time, and each batch's last is its watermark. Else they come in any order: the
  /// watermark is the latest event time so far, and moves on only after every so many records of the stream, so that
  /// which records are late does not depend on when they were read.
  std::uint64_t watermark_every = 0;
  std::uint64_t silent_after_records = std::numeric_limits<std::uint64_t>::max();  // then there is nothing to read
  std::int64_t silent_ns = 0;  // for this time, and then the stream ends; what is left is not read
};

template <typename R, typename EventTime>
class BlockSource final : public Source<R> {
 public:
  /// Fills `records`, which is `first` .. of the executor's input. Their texts are valid until the next call.
  using Generate = std::function<void(std::uint64_t first, std::span<R> records)>;

  /// Generates the block, a piece at a time; `watch` may end it. ResourceExhausted when it does not fit the memory.
  static absl::StatusOr<std::unique_ptr<Source<R>>> Create(const BlockSourceOptions& options, const Clock& clock,
                                                           const Generate& generate, EventTime event_time_ms,
                                                           const Watch& watch = GoOn) {
    absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(options.block_records * sizeof(R));
    if (!region.ok()) {
      return region.status();
    }
    const std::span<R> block(reinterpret_cast<R*>(region->data()), options.block_records);
    bool in_order = true;
    state::TextArena texts;
    for (std::uint64_t first = 0; first < block.size(); first += kGeneratedAtOnce) {
      if (absl::Status status = watch(); !status.ok()) {
        return status;
      }
      const std::span<R> piece = block.subspan(first, std::min(kGeneratedAtOnce, block.size() - first));
      generate(first, piece);
      if constexpr (kHasText<R>) {
        std::ranges::transform(piece, piece.begin(), [&](const R& record) { return texts.Own(record); });
      }
      in_order = in_order && std::ranges::is_sorted(piece, {}, event_time_ms) &&
                 (first == 0 || event_time_ms(block[first - 1]) <= event_time_ms(piece.front()));
    }
    return std::unique_ptr<Source<R>>(
        new BlockSource(options, clock, *std::move(region), std::move(texts), block, event_time_ms, in_order));
  }

  SourceBatch<R> Poll() override {
    const std::uint64_t allowed = Allowed();
    const std::uint64_t count =
        std::min({batch_records_, block_.size() - position_, allowed - std::min(allowed, read_), UntilNextWatermark()});
    const std::span<const R> records = block_.subspan(position_, count);
    SourceBatch<R> batch{
        .records = records, .event_time_shift_ms = shift_ms_, .watermark_ms = watermark_ms_, .ended = false};
    if (count > 0) {
      NoteTimes(records);
      batch.due_ns = schedule_.DueNanos(read_);
      batch.last_due_ns = schedule_.DueNanos(read_ + count - 1);
      Move(count);
      if (options_.watermark_every == 0 || read_ % options_.watermark_every == 0) {
        watermark_ms_ = latest_ms_;
      }
      batch.watermark_ms = watermark_ms_;
      batch.in_order = in_order_;
      batch.upcoming = block_.subspan(position_, std::min<std::uint64_t>(batch_records_, block_.size() - position_));
      if (!batch.upcoming.empty()) {
        Prefetch(&batch.upcoming.back());  // in order of event time, the next Poll reads that one first
      }
    }
    batch.ended = read_ >= options_.total_records || ended_;
    return batch;
  }

  absl::Status status() const override { return status_; }

  bool Ready() override { return Allowed() > read_ || ended_; }

 private:
  /// About 64 KiB, so that a turn stays within some tens of microseconds: with 256 KiB, merging has its turns so much
  /// later that windows take three times as long to fire.
  static constexpr std::uint64_t kDefaultBatchRecords =
      std::max<std::uint64_t>(1, (std::uint64_t{64} << 10) / sizeof(R));

  static constexpr std::uint64_t kGeneratedAtOnce = std::uint64_t{1} << 16;  // some milliseconds' work

  BlockSource(const BlockSourceOptions& options, const Clock& clock, rdma::PageRegion region, state::TextArena texts,
              std::span<const R> block, EventTime event_time_ms, bool in_order)
      : options_(options),
        clock_(&clock),
        region_(std::move(region)),
        texts_(std::move(texts)),
        block_(block),
        event_time_ms_(event_time_ms),
        in_order_(in_order),
        schedule_(options.records_per_second),
        batch_records_(options.batch_records == 0 ? kDefaultBatchRecords : options.batch_records) {}

  /// How many records may have been read by now.
  std::uint64_t Allowed() {
    constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t most = std::min(options_.total_records, options_.silent_after_records);
    const bool silent = read_ >= options_.silent_after_records;
    if (options_.duration_ns == kForever && !schedule_.has_times() && !silent) {
      return most;
    }
    const std::int64_t now_ns = clock_->NowNanos();
    started_ns_ = started_ns_ < 0 ? now_ns : started_ns_;
    schedule_.Start(now_ns);
    const std::int64_t elapsed_ns = now_ns - started_ns_;
    if (silent && silent_since_ns_ < 0) {
      silent_since_ns_ = now_ns;
    }
    if (elapsed_ns >= options_.duration_ns || (silent && now_ns - silent_since_ns_ >= options_.silent_ns)) {
      ended_ = true;
    }
    if (ended_ || silent) {
      return read_;
    }
    return std::min(most, schedule_.RecordsDue(now_ns));
  }

  std::uint64_t UntilNextWatermark() const {
    return options_.watermark_every == 0 ? batch_records_ : options_.watermark_every - read_ % options_.watermark_every;
  }

  void NoteTimes(std::span<const R> records) {
    if (options_.watermark_every == 0) {
      latest_ms_ = event_time_ms_(records.back()) + shift_ms_;
      return;
    }
    for (const R& record : records) {
      latest_ms_ = std::max(latest_ms_, event_time_ms_(record) + shift_ms_);
    }
  }

  void Move(std::uint64_t count) {
    read_ += count;
    position_ += count;
    if (position_ == block_.size() && read_ < options_.total_records) {
      Repeat();
    }
  }

  /// Event times end before kMaxEventTimeMs, which is the watermark of a flow that has ended.
  void Repeat() {
    if (latest_ms_ >= kMaxEventTimeMs - options_.span_ms) {
      status_ = absl::OutOfRangeError(absl::StrCat("repeating the ", block_.size(), " records once more would move ",
                                                   "event times beyond 64 bits; read for a shorter time, or repeat ",
                                                   "more records that span less event time"));
      ended_ = true;
      return;
    }
    position_ = 0;
    shift_ms_ += options_.span_ms;
  }

  BlockSourceOptions options_;
  const Clock* clock_;
  rdma::PageRegion region_;
  state::TextArena texts_;  // of the records
  std::span<const R> block_;
  EventTime event_time_ms_;
  bool in_order_;
  Schedule schedule_;
  std::uint64_t batch_records_;
  std::uint64_t read_ = 0;
  std::uint64_t position_ = 0;  // in the block
  std::int64_t shift_ms_ = 0;
  std::int64_t latest_ms_ = kMinEventTimeMs;  // event time
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::int64_t started_ns_ = -1;
  std::int64_t silent_since_ns_ = -1;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace glaive::engine
