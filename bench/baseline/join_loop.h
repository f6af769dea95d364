// JoinLoop: the hand-written loop that the engine's join is measured against: NB8 in one thread, no engine code.
//
// It does what the query does, on the same bytes: keep what is needed of each auction and each seller of a window, side
// by side in arrays, and at the window's end put the sellers into a chained hash table and look up each auction's,
// emitting every pair to a sink that keeps totals. Everything is mapped and touched before the first record.
//
// Requires: event times never decrease within a block, and both blocks span the same whole number of windows. Owned and
// used by one thread.
//
//   JoinLoop loop({.window_ms = 43'200'000, .auctions = 4'000'000, .sellers = 1'000'000});
//   queries::Totals emitted = loop.Run(auctions, sellers, /*repetitions=*/4, /*block_span_ms=*/43'200'000);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "queries/common/random.h"
#include "queries/common/result_row.h"
#include "queries/nexmark/auction.h"
#include "queries/nexmark/seller.h"

namespace glaive::bench {

/// The most records of a window.
struct JoinLoopOptions {
  std::int64_t window_ms = 0;
  std::uint64_t auctions = 0;
  std::uint64_t sellers = 0;
};

class JoinLoop {
 public:
  explicit JoinLoop(const JoinLoopOptions& options)
      : window_ms_(options.window_ms),
        auctions_(options.auctions),
        sellers_(options.sellers),
        heads_(std::bit_ceil(2 * options.sellers + 2)) {}

  /// Runs the query over both blocks, `repetitions` times; returns what it emitted. Event time moves on by
  /// `block_span_ms` with each repetition.
  queries::Totals Run(std::span<const queries::nexmark::Auction> auctions,
                      std::span<const queries::nexmark::Seller> sellers, std::uint64_t repetitions,
                      std::int64_t block_span_ms) {
    queries::Totals emitted;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      auto auction = auctions.begin();
      auto seller = sellers.begin();
      while (auction != auctions.end() || seller != sellers.end()) {
        const std::int64_t first_ms = auction == auctions.end()                        ? seller->event_time_ms
                                      : seller == sellers.end()                        ? auction->event_time_ms
                                      : auction->event_time_ms < seller->event_time_ms ? auction->event_time_ms
                                                                                       : seller->event_time_ms;
        const std::int64_t end_ms = first_ms - first_ms % window_ms_ + window_ms_;
        std::size_t auction_count = 0;
        for (; auction != auctions.end() && auction->event_time_ms < end_ms; ++auction) {
          auctions_[auction_count++] = {.seller = auction->seller, .id = auction->id};
        }
        std::uint32_t seller_count = 0;
        for (; seller != sellers.end() && seller->event_time_ms < end_ms; ++seller) {
          sellers_[seller_count++] = {.id = seller->id, .time_ms = seller->event_time_ms, .next = 0};
        }
        Fire(end_ms - window_ms_ + moved_on_ms, std::span(auctions_).first(auction_count), seller_count, emitted);
      }
    }
    return emitted;
  }

 private:
  struct KeptAuction {
    std::uint64_t seller;
    std::uint64_t id;
  };
  struct KeptSeller {
    std::uint64_t id;
    std::int64_t time_ms;
    std::uint32_t next;  // 0: none, else one more than its place
  };

  void Fire(std::int64_t start_ms, std::span<const KeptAuction> auctions, std::uint32_t seller_count,
            queries::Totals& emitted) {
    const std::uint64_t mask = heads_.size() - 1;
    heads_.assign(heads_.size(), 0);
    for (std::uint32_t i = 0; i < seller_count; ++i) {
      std::uint32_t& head = heads_[queries::Mix(sellers_[i].id) & mask];
      sellers_[i].next = head;
      head = i + 1;
    }
    for (const KeptAuction& auction : auctions) {
      for (std::uint32_t i = heads_[queries::Mix(auction.seller) & mask]; i != 0; i = sellers_[i - 1].next) {
        const KeptSeller& seller = sellers_[i - 1];
        if (seller.id == auction.seller) {
          emitted.Add({.window_start_ms = start_ms,
                       .window_end_ms = start_ms + window_ms_,
                       .key = seller.id,
                       .value = queries::ValueBits(std::tuple(auction.id, seller.time_ms))});
        }
      }
    }
  }

  std::int64_t window_ms_;
  std::vector<KeptAuction> auctions_;
  std::vector<KeptSeller> sellers_;
  std::vector<std::uint32_t> heads_;
};

}  // namespace glaive::bench
