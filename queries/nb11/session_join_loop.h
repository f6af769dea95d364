// SessionJoinLoop: `nb11` as a hand-written loop, in one thread, no engine code.
//
// It does what the query does: read bids and sellers in the order of their event times, keep what is needed of each in
// a list of its bidder's session, and emit every pair of a session that has ended. A record that comes a gap or more
// behind its key's last one ends the session before it. Once a gap, the loop sweeps all cells for sessions that have
// ended without a successor. Everything is mapped and touched before the first record.
//
// It keeps all bids and sellers until the run ends, which bounds a run to what fits the memory. That is the quickest:
// places that are given back and taken again would cost a cache miss each.
//
// Requires: event times of an input never decrease, ids are never 0. Owned and used by one thread.
//
//   auto loop = SessionJoinLoop::Create({.gap_ms = 10'000, .keys = 1'000'000, .bids = 4'000'000, .sellers =
//   1'000'000});
//   loop->Take(bids, sellers, emit);   // until both have ended
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/sink/sink.h"
#include "queries/loops/loop_input.h"
#include "queries/loops/session_table.h"
#include "queries/loops/table_memory.h"
#include "queries/nb11/bid_offer.h"
#include "queries/nexmark/bid.h"
#include "queries/nexmark/seller.h"

namespace glaive::queries::nb11 {

struct SessionJoinLoopOptions {
  std::int64_t gap_ms = 1;
  std::uint64_t keys = 1;     // the most distinct ones
  std::uint64_t bids = 0;     // of a run
  std::uint64_t sellers = 0;  // likewise
};

class SessionJoinLoop {
 public:
  using Left = nexmark::Bid;
  using Right = nexmark::Seller;
  /// A bid, and when its bidder has registered.
  using Row = engine::WindowResult<std::uint64_t, std::tuple<BidOffer, std::int64_t>>;

  static std::uint64_t MemoryBytes(const SessionJoinLoopOptions& options) {
    return Table::MemoryBytes(options.keys) + Bids::MemoryBytes(options.bids) +
           Registrations::MemoryBytes(options.sellers);
  }

  static absl::StatusOr<SessionJoinLoop> Create(const SessionJoinLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.keys);
    absl::StatusOr<Bids> bids = Bids::Create(options.bids);
    absl::StatusOr<Registrations> sellers = Registrations::Create(options.sellers);
    absl::Status status = table.status();
    status.Update(bids.status());
    status.Update(sellers.status());
    if (!status.ok()) {
      return status;
    }
    return SessionJoinLoop(options.gap_ms, *std::move(table), *std::move(bids), *std::move(sellers));
  }

  /// Takes records until an input needs more. Calls `emit(row)` for the pairs of sessions that it finds to have ended.
  template <typename Emit>
  void Take(LoopInput<Left>& bids, LoopInput<Right>& sellers, const Emit& emit) {
    auto bid = bids.records.begin();
    auto seller = sellers.records.begin();
    const auto bids_end = bids.records.end();
    const auto sellers_end = sellers.records.end();
    const std::int64_t bid_shift_ms = bids.shift_ms;
    const std::int64_t seller_shift_ms = sellers.shift_ms;
    for (; bid != bids_end; ++bid) {
      const std::int64_t time_ms = bid->event_time_ms + bid_shift_ms;
      for (; seller != sellers_end && seller->event_time_ms + seller_shift_ms < time_ms; ++seller) {
        TakeSeller(*seller, seller_shift_ms, emit);
      }
      if (seller == sellers_end && !sellers.ended) {
        break;  // a seller that comes later may be before the bid
      }
      Session& session = SessionAt(bid->bidder, time_ms, emit);
      bids_.Push(session.bids, {.auction = bid->auction, .price = bid->price});
    }
    for (; bid == bids_end && bids.ended && seller != sellers_end; ++seller) {
      TakeSeller(*seller, seller_shift_ms, emit);
    }
    bids.records = {bid, bids_end};
    sellers.records = {seller, sellers_end};
    if (bids.is_done() && sellers.is_done()) {
      EndAll(emit);
    }
  }

 private:
  /// Lists of any number of keys, all in one array in the order that their items come; place 0 is none.
  template <typename T>
  class Lists {
   public:
    static std::uint64_t MemoryBytes(std::uint64_t most) { return (most + 1) * sizeof(Place); }
    static absl::StatusOr<Lists> Create(std::uint64_t most) {
      absl::StatusOr<TableMemory> places = TableMemory::Map(MemoryBytes(most));
      return places.ok() ? absl::StatusOr<Lists>(Lists(*std::move(places))) : places.status();
    }

    void Push(std::uint32_t& list, const T& item) {
      places()[++used_] = {.item = item, .next = list};
      list = used_;
    }
    template <typename Visit>
    void ForEach(std::uint32_t list, const Visit& visit) const {
      for (; list != 0; list = places()[list].next) {
        visit(places()[list].item);
      }
    }
    void Clear() { used_ = 0; }

   private:
    struct Place {
      T item;
      std::uint32_t next;
    };

    explicit Lists(TableMemory places) : places_(std::move(places)) {}

    Place* places() const { return static_cast<Place*>(places_.data()); }

    TableMemory places_;
    std::uint32_t used_ = 0;
  };
  using Bids = Lists<BidOffer>;
  using Registrations = Lists<std::int64_t>;

  struct Session {
    std::uint64_t key = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::uint32_t bids = 0;
    std::uint32_t sellers = 0;

    bool open() const { return bids + std::uint64_t{sellers} != 0; }
  };
  using Table = SessionTable<Session>;

  SessionJoinLoop(std::int64_t gap_ms, Table table, Bids bids, Registrations sellers)
      : gap_ms_(gap_ms), table_(std::move(table)), bids_(std::move(bids)), sellers_(std::move(sellers)) {}

  template <typename Emit>
  void TakeSeller(const Right& seller, std::int64_t shift_ms, const Emit& emit) {
    Session& session = SessionAt(seller.id, seller.event_time_ms + shift_ms, emit);
    sellers_.Push(session.sellers, std::int64_t{seller.event_time_ms});
  }

  /// The key's session that a record of this time is part of.
  template <typename Emit>
  Session& SessionAt(std::uint64_t key, std::int64_t time_ms, const Emit& emit) {
    if (time_ms >= sweep_ms_) {
      Sweep(time_ms, emit);
      sweep_ms_ = time_ms + gap_ms_;
    }
    Session& session = table_.CellOf(key);
    if (!session.open() || time_ms - session.last_ms >= gap_ms_) {
      End(session, emit);
      session.first_ms = time_ms;
    }
    session.last_ms = time_ms;
    return session;
  }

  template <typename Emit>
  void Sweep(std::int64_t now_ms, const Emit& emit) {
    for (Session& session : table_.cells()) {
      if (session.open() && now_ms - session.last_ms >= gap_ms_) {
        End(session, emit);
      }
    }
  }

  template <typename Emit>
  void End(Session& session, const Emit& emit) {
    if (session.bids != 0 && session.sellers != 0) {
      bids_.ForEach(session.bids, [&](const BidOffer& bid) {
        sellers_.ForEach(session.sellers, [&](std::int64_t registered_ms) {
          emit(Row{.window_start_ms = session.first_ms,
                   .window_end_ms = session.last_ms + gap_ms_,
                   .key = session.key,
                   .value = {bid, registered_ms}});
        });
      });
    }
    session.bids = 0;
    session.sellers = 0;
  }

  /// Ends all sessions, and begins anew.
  template <typename Emit>
  void EndAll(const Emit& emit) {
    for (Session& session : table_.cells()) {
      End(session, emit);
      session = {};
    }
    bids_.Clear();
    sellers_.Clear();
    sweep_ms_ = std::numeric_limits<std::int64_t>::min();
  }

  std::int64_t gap_ms_;
  Table table_;
  Bids bids_;
  Registrations sellers_;
  std::int64_t sweep_ms_ = std::numeric_limits<std::int64_t>::min();  // when to sweep next
};

}  // namespace glaive::queries::nb11
