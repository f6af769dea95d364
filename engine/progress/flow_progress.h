// FlowProgress: the epochs and watermarks of one flow on its executor. It decides whether a source has to wait for the
// other flows of the stage (stage_progress.h).
//
// A pure value: time comes in as numbers. Owned by one executor, used by its thread alone.
//
//   1. A marker, and Publish, carry the watermark of the last batch whose records are all in the state or on their way
//      to it (invariant I3).
//   2. The slowest flow waits only while its executor has windows to fire, and a trigger waits for no source. So flows
//      never all wait for each other (invariant I7).
//   3. An idle flow follows: its watermark is that of the slowest flow which is neither idle nor at its end. Without
//      such a flow, time stands still. The watermark never goes back, so records that come later may be late. A
//      source's lead is measured by the watermark of its own producer, because the flow may have followed others.
//   4. When time goes on after it stood still, an idle flow waits for `patience_ns` before it follows. Several flows
//      may become active at nearly the same time. If one followed another at once, its own next records would be late.
//      A flow of results also waits when the flows of the stage that makes them have become idle, since the last
//      results may be under way.
//   5. A flow of results follows the flows of the stage's other inputs alone. Every leader fires the same windows in
//      the same order and passes on its own watermark. A result belongs to the flow of its own leader, so it is not
//      late because of another's.
//
//   progress.OnBatch(records, bytes, watermark_ms, now_ns);
//   if (progress.ShouldEndEpoch(now_ns)) Ship(progress.EndEpoch(now_ns));
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/progress/epoch_policy.h"
#include "engine/progress/stage_progress.h"
#include "engine/window/windows.h"
#include "rdma/base/ids.h"
#include "state/epoch/delta_layout.h"

namespace glaive::engine {

struct FlowProgressOptions {
  ExecutorId self{};
  std::size_t input = 0;       // of the stage's inputs
  bool of_results = false;     // of another stage, not of a source's records
  bool goes_by_clock = false;  // see Vertex: then its source waits for no other flow
  EpochPolicy policy = {};
  std::int64_t max_lead_ms = 0;
  std::int64_t patience_ns = 0;  // before it follows others
};

class FlowProgress {
 public:
  /// `stage` outlives the flow's progress.
  FlowProgress(const FlowProgressOptions& options, const Windows& windows, StageProgress& stage);

  /// Starts the first epoch.
  void Start(std::int64_t now_ns) { epoch_started_ns_ = now_ns; }

  /// A batch that was read at `read_ns` is in the state, or in the combiner, and `watermark_ms` of the producer holds
  /// from here on. It may be behind the flow's, which may have followed others. The stage is told by Publish and
  /// EndEpoch.
  void OnBatch(std::uint64_t records, std::uint64_t bytes, std::int64_t watermark_ms, std::int64_t read_ns);
  /// All that the watermark covers is in the executor's own state or on its way to other leaders: tells the stage of
  /// it.
  void Publish();
  /// The flow has ended: it holds nobody back any more.
  void OnEnd(std::int64_t now_ns) {
    OnActive();
    OnBatch(0, 0, kEndedMs, now_ns);
  }
  /// The flow is idle and follows others from now on: see 3 and 4. It is a CHECK that it was active.
  void OnIdle(std::int64_t now_ns);
  /// The flow does not follow any more.
  void OnActive();
  /// Whether Follow would change anything now.
  bool ShouldFollow(std::int64_t now_ns) const { return is_idle_ && (HasAwoken() || CanFollow(now_ns)); }
  /// An idle flow moves to where those are that it follows, unless it has to wait for them.
  void Follow(std::int64_t now_ns);
  /// Entries of a batch that was read at `read_ns` have come to the executor's own partition.
  void OnEntries(std::int64_t read_ns) { stage_->NoteEntries(read_ns); }
  /// Another executor's epoch has been merged whole.
  void OnMarker(ExecutorId executor, const state::EpochMarker& marker);

  /// `sources_bytes`: read by the executor's sources in this epoch. The stage gets fewer where operators in front of it
  /// drop records, or where it takes in results.
  bool ShouldEndEpoch(std::int64_t now_ns, std::uint64_t sources_bytes = 0) const;
  /// Whether the epoch's end would tell anybody anything.
  bool has_news() const { return epoch_.has_news; }
  /// Publishes, and ends the epoch: the marker to ship. The next epoch has begun.
  state::EpochMarker EndEpoch(std::int64_t now_ns);

  /// Whether a source has to wait that is ahead of this flow's producer by `ahead_ms`, or behind it if that is
  /// negative: it is ahead of the slowest flow, or of the windows that have fired, by more than max_lead. The source of
  /// an idle flow never has to. What a source reads moves a flow that goes by a clock no faster, so its source waits
  /// only for windows that all flows have passed.
  bool LeadsTooFar(std::int64_t ahead_ms = 0) const;

  std::int64_t watermark_ms() const { return watermark_ms_; }
  /// The producer's last watermark.
  std::int64_t produced_ms() const { return produced_ms_; }
  std::uint64_t epochs_ended() const { return epochs_ended_; }
  bool is_idle() const { return is_idle_; }

 private:
  /// Whether time goes on after it stood still, and this flow has not noted that yet.
  bool HasAwoken() const { return stage_->awakenings() != awakenings_; }
  void MoveTo(std::int64_t watermark_ms, std::int64_t read_ns);
  bool CanFollow(std::int64_t now_ns) const { return now_ns >= follows_from_ns_ && FollowedMs() > watermark_ms_; }
  std::int64_t FollowedMs() const {
    return options_.of_results ? stage_->MinOfActiveBesideInput(options_.input) : stage_->MinOfActiveBesideFlow(flow_);
  }

  FlowProgressOptions options_;
  Windows windows_;
  StageProgress* stage_;
  std::size_t flow_;              // of the stage's flows
  std::uint64_t awakenings_ = 0;  // of the stage, that have been noted
  std::int64_t follows_from_ns_ = std::numeric_limits<std::int64_t>::min();
  bool is_idle_ = false;
  EpochProgress epoch_;
  std::int64_t epoch_started_ns_ = 0;
  std::uint64_t epochs_ended_ = 0;
  std::uint64_t records_read_ = 0;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::int64_t produced_ms_ = kMinEventTimeMs;  // the watermark without what was followed
  std::int64_t first_watermark_ms_ = kMinEventTimeMs;
  std::int64_t window_end_ms_ = kMinEventTimeMs;  // the first after the watermark
  std::int64_t published_ms_ = kMinEventTimeMs;   // the watermark that the stage was told of
  std::int64_t unpublished_read_ns_ = 0;          // of the batch that has passed a window's end since; 0: none has
  std::int64_t boundary_read_ns_ = 0;             // 0: no window's end was passed in this epoch
};

}  // namespace glaive::engine
