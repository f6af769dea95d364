#include "state/store/fragment.h"

#include <cstring>
#include <optional>

#include "rdma/base/check.h"

namespace glaive::state {

Fragment::Fragment(rdma::SegmentPool& pool, Outbox& outbox, ExecutorId self, const Leaders& leaders,
                   const FragmentGeometry& geometry, std::size_t most_entry_bytes, std::uint32_t input,
                   DeltaObserver* observer)
    : pool_(&pool),
      outbox_(&outbox),
      observer_(observer),
      geometry_(geometry),
      input_(input),
      leaders_(leaders),
      own_place_(leaders.PlaceOf(self)),
      leads_(leaders.Leads(self)),
      own_(leads_ ? kMostEntries * most_entry_bytes : 0),
      logs_(leaders.executor_count()) {
  GLAIVE_CHECK(RunsCapacity(pool.payload_capacity()) >= geometry.runs_bytes_per_segment, "a fragment of ",
               geometry.runs_bytes_per_segment, " bytes a segment on slots of ", pool.slot_bytes());
  GLAIVE_CHECK(pool.size() >= geometry.pool_segments, "a fragment planned for ", geometry.pool_segments,
               " segments on a pool of ", pool.size());
}

void Fragment::StartRun(std::uint32_t leader, std::size_t entry_bytes, std::size_t text_bytes) {
  Log& log = logs_[leader];
  GLAIVE_CHECK(leader != own_place_, "more than ", kMostEntries, " entries of the executor's own at a time");
  if (log.begin != nullptr) {
    EndRun(log);
    if (static_cast<std::size_t>(log.end - log.next) < RunBytes(1, entry_bytes) + text_bytes) {
      Push(leaders_.executor(leader), log, nullptr);
    }
  }
  if (log.begin == nullptr) {
    const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
    GLAIVE_CHECK(segment.has_value(), "I6: a fragment found the pool of ", pool_->size(), " segments empty");
    Open(log, *segment);
  }
  log.run = run_;
  log.entry_bytes = static_cast<std::uint32_t>(entry_bytes);
  log.header = new (log.next) DeltaRunHeader{.slice = slice_, .entry_count = 0, .kind = kind_, .read_ns = read_ns_};
  log.next += sizeof(DeltaRunHeader);
}

void Fragment::Open(Log& log, rdma::SegmentId segment) {
  log.segment = segment;
  log.begin = pool_->Data(segment);
  log.next = log.begin;
  log.end = log.begin + geometry_.runs_bytes_per_segment;
  log.header = nullptr;
}

void Fragment::EndRun(Log& log) {
  if (log.header == nullptr) {
    return;
  }
  const auto bytes = static_cast<std::size_t>(log.next - reinterpret_cast<std::byte*>(log.header + 1));
  log.header->entry_count = static_cast<std::uint32_t>(bytes / log.entry_bytes);
  entries_ += log.header->entry_count;
  const std::size_t padding = (kRunAlignment - bytes % kRunAlignment) % kRunAlignment;
  std::memset(log.next, 0, padding);
  log.next += padding;
  log.header = nullptr;
}

void Fragment::Push(ExecutorId receiver, Log& log, const EpochMarker* marker) {
  const auto runs_bytes = static_cast<std::uint32_t>(log.next - log.begin);
  const auto text_bytes = static_cast<std::uint32_t>(log.begin + geometry_.runs_bytes_per_segment - log.end);
  std::uint32_t payload_bytes = runs_bytes;
  // Runs, marker and texts leave as one piece.
  const std::size_t marker_bytes = marker != nullptr ? sizeof(*marker) : 0;
  std::memmove(log.next + marker_bytes, log.end, text_bytes);
  if (marker != nullptr) {
    std::memcpy(log.next, marker, sizeof(*marker));
  }
  payload_bytes += static_cast<std::uint32_t>(marker_bytes) + text_bytes;
  const DeltaTag tag{.epoch = epoch_,
                     .runs_bytes = runs_bytes,
                     .has_marker = marker != nullptr ? 1U : 0U,
                     .input = input_,
                     .text_bytes = text_bytes};
  outbox_->Push(receiver, log.segment, payload_bytes, rdma::MessageTag::Of(tag));
  if (observer_ != nullptr) {
    observer_->OnQueued(receiver, {.tag = tag,
                                   .runs = {log.begin, std::size_t{runs_bytes}},
                                   .marker = marker != nullptr ? std::optional(*marker) : std::nullopt,
                                   .texts = {log.next + marker_bytes, std::size_t{text_bytes}}});
  }
  log = Log();
}

bool Fragment::TrySeal(ExecutorId receiver, const EpochMarker& marker) {
  GLAIVE_CHECK(marker.epoch == epoch_, "the marker of epoch ", marker.epoch, " in epoch ", epoch_);
  Log& log = logs_[leaders_.PlaceOf(receiver)];
  if (log.begin == nullptr) {
    const std::optional<rdma::SegmentId> segment = pool_->TryAcquire();
    if (!segment) {
      return false;
    }
    Open(log, *segment);
  }
  EndRun(log);
  Push(receiver, log, &marker);
  return true;
}

}  // namespace glaive::state
