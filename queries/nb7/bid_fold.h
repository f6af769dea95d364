// BidFold: how the hand-written loop of `nb7` takes some hundred bids into its table (queries/loops/window_loop.h): the
// highest price of each auction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "queries/loops/account_table.h"
#include "queries/nexmark/bid.h"

namespace glaive::queries::nb7 {

struct BidFold {
  struct Account {
    std::uint64_t value() const { return price; }

    std::uint64_t price;
  };
  using Record = nexmark::Bid;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& bid) { return bid.event_time_ms; }

  /// Of bids, or of parts of them.
  template <typename R>
  static void FoldChunk(std::span<const R> bids, Table& table) {
    table.Fold(
        bids, [](const R& bid) { return bid.auction; },
        [](Account& account, const R& bid) { account.price = std::max(account.price, bid.price); });
  }
};

}  // namespace glaive::queries::nb7
