// Folds: how the hand-written loops take some hundred records of each query into their tables (window_loop.h).
//
// The plainest code that is fast: one record at a time, no prefetching. YSB's views are picked out without a branch
// first: one record in three is a view, at random, and a branch would be mispredicted as often.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "bench/baseline/account_table.h"
#include "queries/cm/task_event.h"
#include "queries/nexmark/bid.h"
#include "queries/ro/item.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::bench {

struct CountOf {
  std::uint64_t value() const { return count; }

  std::uint64_t count;
};

/// Counts a record for each key.
inline void CountKeys(std::span<const std::uint64_t> keys, AccountTable<CountOf>& table) {
  table.Fold(keys, std::identity{}, [](CountOf& account, std::uint64_t) { ++account.count; });
}

struct YsbFold {
  using Record = queries::ysb::YsbEvent;
  using Account = CountOf;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, AccountTable<Account>& table) const {
    std::array<std::uint64_t, AccountTable<Account>::kRecordsAtOnce> keys;
    std::size_t picked = 0;
    for (const Record& event : events) {
      keys[picked] = event.ad_id;
      picked += event.event_type == queries::ysb::EventType::kView ? 1 : 0;
    }
    if (campaigns != nullptr) {
      std::size_t joined = 0;
      for (std::size_t i = 0; i < picked; ++i) {
        const std::uint64_t campaign = campaigns->Find(keys[i]);
        keys[joined] = campaign;
        joined += campaign != 0 ? 1 : 0;
      }
      picked = joined;
    }
    CountKeys(std::span(keys).first(picked), table);
  }

  std::shared_ptr<const queries::ysb::CampaignTable> campaigns;  // null: the slash profile, without a join
};

struct BidFold {
  struct Account {
    std::uint64_t value() const { return price; }

    std::uint64_t price;
  };
  using Record = queries::nexmark::Bid;

  static std::int64_t TimeMs(const Record& bid) { return bid.event_time_ms; }

  void FoldChunk(std::span<const Record> bids, AccountTable<Account>& table) const {
    table.Fold(
        bids, [](const Record& bid) { return bid.auction; },
        [](Account& account, const Record& bid) { account.price = std::max(account.price, bid.price); });
  }
};

struct CpuMeanFold {
  struct Account {
    double value() const { return sum / static_cast<double>(count); }

    double sum;
    std::uint64_t count;
  };
  using Record = queries::cm::TaskEvent;

  static std::int64_t TimeMs(const Record& event) { return queries::cm::TaskEventTime{}(event); }

  void FoldChunk(std::span<const Record> events, AccountTable<Account>& table) const {
    table.Fold(
        events, [](const Record& event) { return static_cast<std::uint64_t>(event.job_id); },
        [](Account& account, const Record& event) {
          account.sum += double{event.cpu};
          ++account.count;
        });
  }
};

struct ItemFold {
  using Record = queries::ro::Item;
  using Account = CountOf;

  static std::int64_t TimeMs(const Record& item) { return item.event_time_ms; }

  void FoldChunk(std::span<const Record> items, AccountTable<Account>& table) const {
    table.Fold(
        items, [](const Record& item) { return item.key; }, [](Account& account, const Record&) { ++account.count; });
  }
};

}  // namespace glaive::bench
