// RecordBlocks: the records that each executor reads, in memory, and the source that has the engine read them.
//
// Immutable once generated, shared by all runs of a workload.
//
//   auto bids = RecordBlocks<Bid, BidTime>::Generate(generator, /*records=*/1'000'000, /*executors=*/2);
//   std::span<const Bid> first = (*bids)->of(0);
//   auto events = (*bids)->Source(/*repetitions=*/3, /*span_ms=*/600'000);
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/source/block_source.h"
#include "queries/common/generator.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {

/// `EventTime` is a stateless callable from a record to milliseconds.
template <typename R, typename EventTime>
class RecordBlocks : public std::enable_shared_from_this<RecordBlocks<R, EventTime>> {
 public:
  using Record = R;
  using Events = engine::SourceSpec<R, EventTime>;

  /// Records 0 .. `records` - 1 of each of `executors`, each generated in a thread of its own. ResourceExhausted when
  /// they do not fit the memory.
  static absl::StatusOr<std::shared_ptr<const RecordBlocks>> Generate(const queries::Generator<R>& generator,
                                                                      std::uint64_t records, std::uint32_t executors) {
    std::shared_ptr<RecordBlocks> blocks(new RecordBlocks());
    for (std::uint32_t executor = 0; executor < executors; ++executor) {
      if (absl::Status status = blocks->AddBlock(records); !status.ok()) {
        return status;
      }
    }
    std::vector<std::thread> threads;
    for (std::uint32_t executor = 0; executor < executors; ++executor) {
      threads.emplace_back([&, executor] { generator.Fill(executor, 0, blocks->blocks_[executor]); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return blocks;
  }

  std::span<const R> of(std::uint32_t executor) const { return blocks_[executor]; }

  /// One block of all executors' records by event time, if each executor's are.
  absl::StatusOr<std::shared_ptr<const RecordBlocks>> Merge() const {
    std::shared_ptr<RecordBlocks> merged(new RecordBlocks());
    if (absl::Status status = merged->AddBlock(blocks_.size() * blocks_.front().size()); !status.ok()) {
      return status;
    }
    const auto begin = merged->blocks_.front().begin();
    auto end = begin;
    for (const std::span<R>& block : blocks_) {
      const auto middle = end;
      end = std::ranges::copy(block, end).out;
      std::ranges::inplace_merge(begin, middle, end, {}, EventTime{});
    }
    return merged;
  }

  /// Has every executor read a copy of its records, `repetitions` times; each moves event time on by `span_ms`.
  Events Source(std::uint64_t repetitions, std::int64_t span_ms) const {
    const auto open = [blocks = this->shared_from_this(), repetitions, span_ms](const engine::SourceContext& context) {
      const std::span<const R> block = blocks->of(Value(context.executor));
      return engine::BlockSource<R, EventTime>::Create(
          {.block_records = block.size(), .total_records = block.size() * repetitions, .span_ms = span_ms},
          *context.clock,
          [&](std::uint64_t first, std::span<R> into) {
            std::ranges::copy(block.subspan(first, into.size()), into.begin());
          },
          EventTime{});
    };
    return {.open = open, .event_time_ms = {}};
  }

 private:
  RecordBlocks() = default;

  absl::Status AddBlock(std::uint64_t records) {
    absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(records * sizeof(R));
    if (!region.ok()) {
      return region.status();
    }
    blocks_.emplace_back(reinterpret_cast<R*>(region->data()), records);
    regions_.push_back(*std::move(region));
    return absl::OkStatus();
  }

  std::vector<rdma::PageRegion> regions_;
  std::vector<std::span<R>> blocks_;  // by executor, in the regions
};

}  // namespace glaive::bench
