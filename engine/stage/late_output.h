// LateOutput: the late records of one executor, on their way to the sink that `.LateTo()` has named.
//
// Owned by the input of a stage. The fiber of the input's producer uses it, and waits here for a slow sink. Meanwhile
// the input ends no epoch, so no window of its stage fires; the producer's other consumers get their turns. Without
// LateTo it does nothing, and no record is ever added.
//
//   late.Add({.event_time_ms = ..., .watermark_ms = ..., .record = ...});   // some of a batch
//   status = late.Write(wait);                                              // behind the batch
//   status = late.Finish(wait);   ...   status = late.Commit();
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

/// `R` is what the chain of steps emits.
template <typename R>
class LateOutput {
 public:
  /// `sink` is null without LateTo.
  explicit LateOutput(std::unique_ptr<Sink<LateRecord<R>>> sink) : sink_(std::move(sink)) {}

  /// Stores a record until the next Write.
  void Add(LateRecord<R> late) { rows_.push_back(std::move(late)); }

  /// Hands over what was added, and waits until the sink would take more: `wait(ready)` returns once `ready()`.
  template <typename WaitFn>
  absl::Status Write(const WaitFn& wait) {
    if (rows_.empty()) {
      return absl::OkStatus();
    }
    absl::Status status = sink_->Write(rows_);
    rows_.clear();
    sink_->Complete(std::nullopt);  // a late record is final, and others may be as late
    if (status.ok()) {
      wait([&] { return sink_->Ready(); });
    }
    return status;
  }

  bool WantsToPublish(std::int64_t now_ns) const { return sink_ != nullptr && sink_->WantsToPublish(now_ns); }
  absl::Status Publish(std::int64_t now_ns) { return sink_->Publish(now_ns); }

  /// Waits until all can be committed.
  template <typename WaitFn>
  absl::Status Finish(const WaitFn& wait) {
    while (sink_ != nullptr) {
      const absl::StatusOr<bool> finished = sink_->TryFinish();
      if (!finished.ok() || *finished) {
        return finished.status();
      }
      wait([&] { return sink_->Ready(); });
    }
    return absl::OkStatus();
  }

  void AddParts(std::vector<ResultPart>& parts) const {
    if (sink_ != nullptr) {
      sink_->AddParts(parts);
    }
  }
  absl::Status Commit() { return sink_ == nullptr ? absl::OkStatus() : sink_->Commit(); }

 private:
  std::unique_ptr<Sink<LateRecord<R>>> sink_;
  std::vector<LateRecord<R>> rows_;  // of one batch at most
};

}  // namespace glaive::engine
