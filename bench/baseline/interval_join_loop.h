// IntervalJoinLoop: the hand-written loop that the engine's interval join is measured against: bids joined with the
// registrations of their bidders that are near in event time, in one thread, no engine code.
//
// It does what the query does: read bids and sellers in the order of their event times, put what is
// needed of each into a ring, chained by the hash of its key from the newest to the oldest, and look each record up in
// the chain of the other side until the entries are out of reach, emitting every pair. So nothing has to be dropped.
// Everything is touched before the first record.
//
// Requires: event times of an input never decrease. Owned and used by one thread.
//
//   IntervalJoinLoop loop({.reach_ms = 10'000, .bids = 4'000'000, .sellers = 1'000'000});
//   loop.Take(bids, sellers, emit);   // until both have ended
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "engine/sink/sink.h"
#include "queries/common/random.h"
#include "queries/loops/loop_input.h"
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
  using Left = queries::nexmark::Bid;
  using Right = queries::nexmark::Seller;
  /// A bid, and when its bidder has registered.
  using Row = engine::WindowResult<std::uint64_t, std::tuple<queries::nb11::BidOffer, std::int64_t>>;

  explicit IntervalJoinLoop(const IntervalJoinLoopOptions& options)
      : reach_ms_(options.reach_ms), bids_(options.bids), sellers_(options.sellers) {}

  /// Takes records until an input needs more. Calls `emit(row)` for each pair.
  template <typename Emit>
  void Take(queries::LoopInput<Left>& bids, queries::LoopInput<Right>& sellers, const Emit& emit) {
    auto bid = bids.records.begin();
    auto seller = sellers.records.begin();
    const auto bids_end = bids.records.end();
    const auto sellers_end = sellers.records.end();
    while ((bid != bids_end || bids.ended) && (seller != sellers_end || sellers.ended) &&
           (bid != bids_end || seller != sellers_end)) {
      const bool takes_bid = seller == sellers_end || (bid != bids_end && bid->event_time_ms + bids.shift_ms <=
                                                                              seller->event_time_ms + sellers.shift_ms);
      if (takes_bid) {
        TakeBid(*bid++, bids.shift_ms, emit);
      } else {
        TakeSeller(*seller++, sellers.shift_ms, emit);
      }
    }
    bids.records = {bid, bids_end};
    sellers.records = {seller, sellers_end};
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

  template <typename Emit>
  void TakeBid(const Left& bid, std::int64_t shift_ms, const Emit& emit) {
    const std::int64_t time_ms = bid.event_time_ms + shift_ms;
    const queries::nb11::BidOffer offer{.auction = bid.auction, .price = bid.price};
    sellers_.ForEach(bid.bidder, time_ms - reach_ms_, [&](std::int64_t seller_ms, std::int64_t registered_ms) {
      emit(RowOf(bid.bidder, time_ms, offer, seller_ms, registered_ms));
    });
    bids_.Add(bid.bidder, time_ms, offer);
  }

  template <typename Emit>
  void TakeSeller(const Right& seller, std::int64_t shift_ms, const Emit& emit) {
    const std::uint64_t id = seller.id;
    const std::int64_t registered_ms = seller.event_time_ms;
    const std::int64_t time_ms = registered_ms + shift_ms;
    bids_.ForEach(id, time_ms - reach_ms_, [&](std::int64_t bid_ms, const queries::nb11::BidOffer& offer) {
      emit(RowOf(id, bid_ms, offer, time_ms, registered_ms));
    });
    sellers_.Add(id, time_ms, registered_ms);
  }

  static Row RowOf(std::uint64_t key, std::int64_t bid_ms, const queries::nb11::BidOffer& offer, std::int64_t seller_ms,
                   std::int64_t registered_ms) {
    return {.window_start_ms = std::min(bid_ms, seller_ms),
            .window_end_ms = std::max(bid_ms, seller_ms) + 1,
            .key = key,
            .value = {offer, registered_ms}};
  }

  std::int64_t reach_ms_;
  Ring<queries::nb11::BidOffer> bids_;
  Ring<std::int64_t> sellers_;
};

}  // namespace glaive::bench
