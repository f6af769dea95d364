// SessionJoinLoop: the hand-written loop that the engine's session join is measured against: NB11 in one thread, no
// engine code.
//
// It does what the query does, on the same bytes: read bids and sellers in the order of their event times, keep what is
// needed of each in a list of its bidder's session, and emit every pair of a session that has ended, to a sink that
// keeps totals. A record that comes a gap or more behind its key's last one ends the session before it; once a gap, all
// cells are swept for sessions that have ended without a successor. Everything is mapped and touched before the first
// record.
//
// It keeps all bids and sellers until the run ends, which bounds a run to what fits the memory. That is the quickest:
// what gave places back and took them again would wait for each of them once more.
//
// Requires: event times never decrease within a block, both blocks span as much time, and ids are never 0. Owned and
// used by one thread.
//
//   auto loop = SessionJoinLoop::Create({.gap_ms = 10'000, .keys = 1'000'000, .bids = 4'000'000, .sellers =
//   1'000'000}); queries::Totals emitted = loop->Run(bids, sellers, /*repetitions=*/4, /*block_span_ms=*/100'000);
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bench/baseline/session_table.h"
#include "bench/baseline/table_memory.h"
#include "queries/common/result_row.h"
#include "queries/nb11/bid_offer.h"
#include "queries/nexmark/bid.h"
#include "queries/nexmark/seller.h"

namespace glaive::bench {

struct SessionJoinLoopOptions {
  std::int64_t gap_ms = 1;
  std::uint64_t keys = 1;     // the most distinct ones
  std::uint64_t bids = 0;     // of a run
  std::uint64_t sellers = 0;  // likewise
};

class SessionJoinLoop {
 public:
  using Bid = queries::nexmark::Bid;
  using Seller = queries::nexmark::Seller;

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

  /// Runs the query over both blocks, `repetitions` times, and ends the streams; returns what it emitted. Event time
  /// moves on by `block_span_ms` with each repetition.
  queries::Totals Run(std::span<const Bid> bids, std::span<const Seller> sellers, std::uint64_t repetitions,
                      std::int64_t block_span_ms) {
    queries::Totals emitted;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      auto seller = sellers.begin();
      for (const Bid& bid : bids) {
        for (; seller != sellers.end() && seller->event_time_ms < bid.event_time_ms; ++seller) {
          Take(*seller, moved_on_ms, emitted);
        }
        Session& session = SessionAt(bid.bidder, bid.event_time_ms + moved_on_ms, emitted);
        bids_.Push(session.bids, {.auction = bid.auction, .price = bid.price});
      }
      for (; seller != sellers.end(); ++seller) {
        Take(*seller, moved_on_ms, emitted);
      }
    }
    for (Session& session : table_.cells()) {
      End(session, emitted);
      session = {};
    }
    bids_.Clear();
    sellers_.Clear();
    sweep_ms_ = std::numeric_limits<std::int64_t>::min();
    return emitted;
  }

 private:
  /// Lists of any number of keys, all in one array in the order that their items come; place 0 is none.
  template <typename T>
  class Lists {
   public:
    static absl::StatusOr<Lists> Create(std::uint64_t most) {
      absl::StatusOr<TableMemory> places = TableMemory::Map((most + 1) * sizeof(Place));
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
  using Bids = Lists<queries::nb11::BidOffer>;
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

  void Take(const Seller& seller, std::int64_t moved_on_ms, queries::Totals& emitted) {
    Session& session = SessionAt(seller.id, seller.event_time_ms + moved_on_ms, emitted);
    sellers_.Push(session.sellers, std::int64_t{seller.event_time_ms});
  }

  /// The key's session that a record of this time is part of.
  Session& SessionAt(std::uint64_t key, std::int64_t time_ms, queries::Totals& emitted) {
    if (time_ms >= sweep_ms_) {
      Sweep(time_ms, emitted);
      sweep_ms_ = time_ms + gap_ms_;
    }
    Session& session = table_.CellOf(key);
    if (!session.open() || time_ms - session.last_ms >= gap_ms_) {
      End(session, emitted);
      session.first_ms = time_ms;
    }
    session.last_ms = time_ms;
    return session;
  }

  void Sweep(std::int64_t now_ms, queries::Totals& emitted) {
    for (Session& session : table_.cells()) {
      if (session.open() && now_ms - session.last_ms >= gap_ms_) {
        End(session, emitted);
      }
    }
  }

  void End(Session& session, queries::Totals& emitted) {
    if (session.bids != 0 && session.sellers != 0) {
      bids_.ForEach(session.bids, [&](const queries::nb11::BidOffer& bid) {
        sellers_.ForEach(session.sellers, [&](std::int64_t registered_ms) {
          emitted.Add({.window_start_ms = session.first_ms,
                       .window_end_ms = session.last_ms + gap_ms_,
                       .key = session.key,
                       .value = queries::ValueBits(std::tuple(bid, registered_ms))});
        });
      });
    }
    session.bids = 0;
    session.sellers = 0;
  }

  std::int64_t gap_ms_;
  Table table_;
  Bids bids_;
  Registrations sellers_;
  std::int64_t sweep_ms_ = std::numeric_limits<std::int64_t>::min();  // when to sweep next
};

}  // namespace glaive::bench
