// IntervalJoinLoop: the hand-written loop that the engine's interval join is measured against: bids joined with the
// registrations of their bidders that are near in event time, in one thread, no engine code.
//
// It does what the query does, on the same bytes: read bids and sellers in the order of their event times, put what is
// needed of each into a ring, chained by the hash of its key from the newest to the oldest, and look each record up in
// the chain of the other side until the entries are out of reach, emitting every pair to a sink that keeps totals. So
// nothing has to be dropped. Everything is touched before the first record.
//
// Requires: event times never decrease within a block, both blocks span as much time, which is more than the reach.
// Owned and used by one thread.
//
//   IntervalJoinLoop loop({.reach_ms = 10'000, .bids = 4'000'000, .sellers = 1'000'000});
//   queries::Totals emitted = loop.Run(bids, sellers, /*repetitions=*/4, /*block_span_ms=*/100'000);
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "queries/common/random.h"
#include "queries/common/result_row.h"
#include "queries/nb11/bid_offer.h"
#include "queries/nexmark/bid.h"
#include "queries/nexmark/seller.h"

namespace glaive::bench {

struct IntervalJoinLoopOptions {
  std::int64_t reach_ms = 0;  // partners are so far apart at most
  std::uint64_t bids = 0;     // the most within reach of each other
  std::uint64_t sellers = 0;  // likewise
};

class IntervalJoinLoop {
 public:
  using Bid = queries::nexmark::Bid;
  using Seller = queries::nexmark::Seller;

  explicit IntervalJoinLoop(const IntervalJoinLoopOptions& options)
      : reach_ms_(options.reach_ms), bids_(options.bids), sellers_(options.sellers) {}

  /// Runs the query over both blocks, `repetitions` times; returns what it emitted. Event time moves on by
  /// `block_span_ms` with each repetition.
  queries::Totals Run(std::span<const Bid> bids, std::span<const Seller> sellers, std::uint64_t repetitions,
                      std::int64_t block_span_ms) {
    queries::Totals emitted;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      auto bid = bids.begin();
      auto seller = sellers.begin();
      while (bid != bids.end() || seller != sellers.end()) {
        if (seller == sellers.end() || (bid != bids.end() && bid->event_time_ms <= seller->event_time_ms)) {
          TakeBid(*bid++, moved_on_ms, emitted);
        } else {
          TakeSeller(*seller++, moved_on_ms, emitted);
        }
      }
    }
    return emitted;
  }

 private:
  /// Entries of one side, each linked to the one before it with the same hash.
  template <typename Kept>
  class Ring {
   public:
    explicit Ring(std::uint64_t entries)
        : entries_(std::bit_ceil(entries + 1)), newest_(2 * entries_.size()), mask_(entries_.size() - 1) {}

    void Add(std::uint64_t key, std::int64_t time_ms, const Kept& kept) {
      std::uint64_t& newest = newest_[HashOf(key)];
      ++count_;
      entries_[count_ & mask_] = {.key = key, .time_ms = time_ms, .kept = kept, .before = newest};
      newest = count_;
    }

    /// Calls `meet(time_ms, kept)` for the entries of a key that are not before `first_ms`.
    template <typename Meet>
    void ForEach(std::uint64_t key, std::int64_t first_ms, const Meet& meet) const {
      for (std::uint64_t number = newest_[HashOf(key)]; number != 0 && number + mask_ >= count_;) {
        const Entry& entry = entries_[number & mask_];
        if (entry.time_ms < first_ms) {
          return;
        }
        if (entry.key == key) {
          meet(entry.time_ms, entry.kept);
        }
        number = entry.before;
      }
    }

   private:
    struct Entry {
      std::uint64_t key;
      std::int64_t time_ms;
      Kept kept;
      std::uint64_t before;  // its number; 0: none
    };

    std::uint64_t HashOf(std::uint64_t key) const { return queries::Mix(key) & (newest_.size() - 1); }

    std::vector<Entry> entries_;         // entry n at n modulo the size
    std::vector<std::uint64_t> newest_;  // by hash
    std::uint64_t mask_;
    std::uint64_t count_ = 0;  // the newest one's number
  };

  void TakeBid(const Bid& bid, std::int64_t moved_on_ms, queries::Totals& emitted) {
    const std::int64_t time_ms = bid.event_time_ms + moved_on_ms;
    const queries::nb11::BidOffer offer{.auction = bid.auction, .price = bid.price};
    sellers_.ForEach(bid.bidder, time_ms - reach_ms_, [&](std::int64_t seller_ms, std::int64_t registered_ms) {
      Emit(bid.bidder, time_ms, offer, seller_ms, registered_ms, emitted);
    });
    bids_.Add(bid.bidder, time_ms, offer);
  }

  void TakeSeller(const Seller& seller, std::int64_t moved_on_ms, queries::Totals& emitted) {
    const std::uint64_t id = seller.id;
    const std::int64_t registered_ms = seller.event_time_ms;
    const std::int64_t time_ms = registered_ms + moved_on_ms;
    bids_.ForEach(id, time_ms - reach_ms_, [&](std::int64_t bid_ms, const queries::nb11::BidOffer& offer) {
      Emit(id, bid_ms, offer, time_ms, registered_ms, emitted);
    });
    sellers_.Add(id, time_ms, registered_ms);
  }

  static void Emit(std::uint64_t key, std::int64_t bid_ms, const queries::nb11::BidOffer& offer, std::int64_t seller_ms,
                   std::int64_t registered_ms, queries::Totals& emitted) {
    emitted.Add({.window_start_ms = std::min(bid_ms, seller_ms),
                 .window_end_ms = std::max(bid_ms, seller_ms) + 1,
                 .key = key,
                 .value = queries::ValueBits(std::tuple(offer, registered_ms))});
  }

  std::int64_t reach_ms_;
  Ring<queries::nb11::BidOffer> bids_;
  Ring<std::int64_t> sellers_;
};

}  // namespace glaive::bench
