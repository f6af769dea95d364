// RecordQueue: records that threads of the application push, for executors of the same process to read.
//
// Thread-safe. Executors take what is there, each record goes to one of them. The records have no event times. Each
// node of a run has a queue of its own, and the stream ends when all of them are closed. A second stream of a queue
// shares its records: copy the stream instead. The memory plan does not count the queue. A run that is repeated reads
// other records.
//
// Push waits while the queue is full, also for a run that has failed before it opened its sources. So close the queue
// once the run has returned. No executor's thread may push: a full queue would hold it up.
//
//   RecordQueue<Order> orders(1 << 16);                     // outlives the run
//   std::thread feed([&] { while (...) { if (!orders.Push(order)) break; } orders.Close(); });
//   run of FromQueue(orders)...                             // api/generated.h
//   orders.Close();
//   feed.join();
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/flow/batch.h"
#include "engine/source/source.h"
#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

template <typename R>
class RecordQueue {
 public:
  /// Holds `capacity` records, at least 1.
  explicit RecordQueue(std::size_t capacity) : capacity_(capacity) {
    ExpectDescribedTexts<R>();
    GLAIVE_CHECK(capacity > 0, "a RecordQueue of capacity 0 has no room: give it 1 or more");
  }

  /// Waits while the queue is full. False: the run has ended, or the queue is closed, and the record is dropped.
  bool Push(const R& record) {
    Stored stored(record);
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return records_.size() < capacity_ || !takes_records(); });
    if (!takes_records()) {
      return false;
    }
    records_.push_back(std::move(stored));
    has_news_ = true;
    return true;
  }

  /// Nothing more comes: the stream ends behind what was pushed.
  void Close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    has_news_ = true;
    has_room_.notify_all();
  }

  /// An executor's end of the queue.
  class Reader final : public Source<R> {
   public:
    explicit Reader(RecordQueue& queue) : queue_(&queue) { queue.AddReader(); }
    ~Reader() override { queue_->RemoveReader(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    SourceBatch<R> Poll() override {
      texts_.Clear();
      const bool ended = queue_->TakeSome(batch_, texts_);
      return {.records = batch_, .ended = ended};
    }
    bool Ready() override { return queue_->has_news_; }

   private:
    RecordQueue* queue_;
    std::vector<R> batch_;
    state::TextArena texts_;  // of the batch
  };

 private:
  /// A record with its texts.
  struct WithTexts {
    explicit WithTexts(const R& from) : record(from) {
      if (const std::size_t bytes = TextBytes(from); bytes > 0) {
        texts = std::make_unique_for_overwrite<char[]>(bytes);
        MoveTexts(record, texts.get());
      }
    }

    R record;
    std::unique_ptr<char[]> texts;  // null: all are inline
  };
  using Stored = std::conditional_t<kHasText<R>, WithTexts, R>;

  // Under the mutex. Before the first reader there may be a run to come.
  bool takes_records() const { return !is_closed_ && !(had_readers_ && readers_ == 0); }

  void AddReader() {
    const std::lock_guard lock(mutex_);
    had_readers_ = true;
    ++readers_;
  }
  void RemoveReader() {
    const std::lock_guard lock(mutex_);
    --readers_;
    has_room_.notify_all();
  }

  /// Moves some records to `batch`, and their texts to `texts`. Whether none will follow.
  bool TakeSome(std::vector<R>& batch, state::TextArena& texts) {
    batch.clear();
    const std::lock_guard lock(mutex_);
    const auto end = records_.begin() + static_cast<std::ptrdiff_t>(std::min(records_.size(), kMostMadeAtOnce<R>));
    if constexpr (kHasText<R>) {
      std::for_each(records_.begin(), end, [&](const Stored& stored) { batch.push_back(texts.Own(stored.record)); });
    } else {
      batch.assign(records_.begin(), end);
    }
    records_.erase(records_.begin(), end);
    has_news_ = !records_.empty() || is_closed_;
    if (!batch.empty()) {
      has_room_.notify_all();
    }
    return is_closed_ && records_.empty();
  }

  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable has_room_;
  std::deque<Stored> records_;
  std::atomic<bool> has_news_ = false;  // written under the mutex, read by executors in every round
  bool is_closed_ = false;
  bool had_readers_ = false;
  std::size_t readers_ = 0;
};

/// The source that reads a queue.
template <typename R>
SourceSpec<R, NoEventTime> QueueSource(RecordQueue<R>& queue) {
  return {.open = [&queue](const SourceContext& /*context*/) -> absl::StatusOr<std::unique_ptr<Source<R>>> {
            return std::make_unique<typename RecordQueue<R>::Reader>(queue);
          },
          .event_time_ms = {},
          .memory_bytes = kMostMadeAtOnce<R> * sizeof(R),
          .each_process_reads = true};
}

}  // namespace glaive::engine
