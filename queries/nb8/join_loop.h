// JoinLoop: `nb8` as a hand-written loop, in one thread, no engine code.
//
// It does what the query does: keep what is needed of each auction and each seller of a window, side by side in arrays,
// and at the window's end put the sellers into a chained hash table and look up each auction's, emitting every pair.
// Everything is mapped and touched before the first record.
//
// Requires: event times of an input never decrease. Owned and used by one thread.
//
//   JoinLoop loop({.window_ms = 43'200'000, .auctions = 4'000'000, .sellers = 1'000'000});
//   loop.Take(auctions, sellers, emit);   // until both have ended
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "engine/sink/sink.h"
#include "queries/common/random.h"
#include "queries/loops/loop_input.h"
#include "queries/nexmark/auction.h"
#include "queries/nexmark/seller.h"
#include "rdma/base/check.h"

namespace glaive::queries::nb8 {

/// The most records of a window.
struct JoinLoopOptions {
  std::int64_t window_ms = 0;
  std::uint64_t auctions = 0;
  std::uint64_t sellers = 0;
};

class JoinLoop {
 public:
  using Left = nexmark::Auction;
  using Right = nexmark::Seller;
  /// An auction's id, and when its seller has registered.
  using Row = engine::WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::int64_t>>;

  explicit JoinLoop(const JoinLoopOptions& options)
      : window_ms_(options.window_ms),
        auctions_(options.auctions),
        sellers_(options.sellers),
        heads_(HeadsFor(options)) {}

  static std::uint64_t MemoryBytes(const JoinLoopOptions& options) {
    return options.auctions * sizeof(KeptAuction) + options.sellers * sizeof(KeptSeller) +
           HeadsFor(options) * sizeof(std::uint32_t);
  }

  /// Takes records until an input needs more. Calls `emit(row)` for the pairs of windows that have ended in both.
  template <typename Emit>
  void Take(LoopInput<Left>& auctions, LoopInput<Right>& sellers, const Emit& emit) {
    while (true) {
      for (const Left& auction : RecordsOfWindow(auctions, auctions_.size() - auction_count_)) {
        auctions_[auction_count_++] = {.seller = auction.seller, .id = auction.id};
      }
      for (const Right& seller : RecordsOfWindow(sellers, sellers_.size() - seller_count_)) {
        sellers_[seller_count_++] = {.id = seller.id, .time_ms = seller.event_time_ms, .next = 0};
      }
      if (auctions.needs_more() || sellers.needs_more()) {
        return;
      }
      if (window_end_ms_ != kNoWindow) {
        Fire(emit);
      }
      window_end_ms_ = EndOfNextWindow(auctions, sellers);
      if (window_end_ms_ == kNoWindow) {
        return;
      }
    }
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

  static std::size_t HeadsFor(const JoinLoopOptions& options) { return std::bit_ceil(2 * options.sellers + 2); }

  static constexpr std::int64_t kNoWindow = std::numeric_limits<std::int64_t>::min();

  /// Takes from the input those of its records that are in the window: they are the first ones. At most `most`.
  template <typename R>
  std::span<const R> RecordsOfWindow(LoopInput<R>& input, std::size_t most) const {
    const std::int64_t end_ms = window_end_ms_ == kNoWindow ? kNoWindow : window_end_ms_ - input.shift_ms;
    const auto end = std::ranges::partition_point(
        input.records, [end_ms](const R& record) { return std::int64_t{record.event_time_ms} < end_ms; });
    const std::span<const R> taken(input.records.begin(), end);
    GLAIVE_CHECK(taken.size() <= most, "a window has more records than the loop was made for");
    input.records = input.records.subspan(taken.size());
    return taken;
  }

  std::int64_t EndOfNextWindow(const LoopInput<Left>& auctions, const LoopInput<Right>& sellers) const {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    const auto first_ms = [](const auto& input) {
      return input.records.empty() ? kNever : input.records.front().event_time_ms + input.shift_ms;
    };
    const std::int64_t next_ms = std::min(first_ms(auctions), first_ms(sellers));
    return next_ms == kNever ? kNoWindow : next_ms - next_ms % window_ms_ + window_ms_;
  }

  template <typename Emit>
  void Fire(const Emit& emit) {
    const std::uint64_t mask = heads_.size() - 1;
    heads_.assign(heads_.size(), 0);
    for (std::uint32_t i = 0; i < seller_count_; ++i) {
      std::uint32_t& head = heads_[Mix(sellers_[i].id) & mask];
      sellers_[i].next = head;
      head = i + 1;
    }
    for (const KeptAuction& auction : std::span(auctions_).first(auction_count_)) {
      for (std::uint32_t i = heads_[Mix(auction.seller) & mask]; i != 0; i = sellers_[i - 1].next) {
        const KeptSeller& seller = sellers_[i - 1];
        if (seller.id == auction.seller) {
          emit(Row{.window_start_ms = window_end_ms_ - window_ms_,
                   .window_end_ms = window_end_ms_,
                   .key = seller.id,
                   .value = {auction.id, seller.time_ms}});
        }
      }
    }
    auction_count_ = 0;
    seller_count_ = 0;
  }

  std::int64_t window_ms_;
  std::int64_t window_end_ms_ = kNoWindow;  // of the window that is being read
  std::vector<KeptAuction> auctions_;       // of the window, and room for more
  std::size_t auction_count_ = 0;
  std::vector<KeptSeller> sellers_;  // likewise
  std::uint32_t seller_count_ = 0;
  std::vector<std::uint32_t> heads_;
};

}  // namespace glaive::queries::nb8
