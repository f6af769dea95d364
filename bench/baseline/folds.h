// Folds: how the hand-written loops take some hundred records of each query into their tables (window_loop.h).
//
// The plainest code that is fast: one record at a time, no prefetching. YSB's views are picked out without a branch
// first: one record in three is a view, at random, and a branch would be mispredicted as often.
//
// In a PartitionLoop one thread sends an Item of each record to another thread. The folds of these loops have three
// more members: Item, the fields of a record that the fold reads; Project(records, items), which writes the items of at
// most Table::kRecordsAtOnce records and returns their number; and FoldItems(items, table).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "bench/baseline/account_table.h"
#include "bench/baseline/one_count.h"
#include "queries/cm/task_event.h"
#include "queries/nexmark/bid.h"
#include "queries/ro/item.h"
#include "queries/swa/air_event.h"
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
  using Table = AccountTable<CountOf>;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const {
    std::array<Item, Table::kRecordsAtOnce> keys;
    FoldItems(std::span(keys).first(Project(events, keys.data())), table);
  }

  using Item = std::uint64_t;  // the key of a view

  std::size_t Project(std::span<const Record> events, Item* keys) const {
    std::size_t picked = 0;
    for (const Record& event : events) {
      keys[picked] = event.ad_id;
      picked += event.event_type == queries::ysb::EventType::kView ? 1 : 0;
    }
    if (campaigns == nullptr) {
      return picked;
    }
    std::size_t joined = 0;
    for (std::size_t i = 0; i < picked; ++i) {
      const std::uint64_t campaign = campaigns->Find(keys[i]);
      keys[joined] = campaign;
      joined += campaign != 0 ? 1 : 0;
    }
    return joined;
  }
  void FoldItems(std::span<const Item> keys, Table& table) const { CountKeys(keys, table); }

  std::shared_ptr<const queries::ysb::CampaignTable> campaigns;  // null: the slash profile, without a join
};

/// Clicks for a view of each campaign that has both: ysb_star.
struct ClickRatioFold {
  struct Account {
    std::optional<double> value() const {
      return clicks > 0 && views > 0 ? std::optional(static_cast<double>(clicks) / static_cast<double>(views))
                                     : std::nullopt;
    }

    std::uint64_t clicks;
    std::uint64_t views;
  };
  using Record = queries::ysb::YsbEvent;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const {
    struct Picked {
      std::uint64_t id;  // of the ad, then of its campaign
      bool is_click;
    };
    std::array<Picked, Table::kRecordsAtOnce> picked;
    std::size_t picked_count = 0;
    for (const Record& event : events) {
      picked[picked_count] = {.id = event.ad_id, .is_click = event.event_type == queries::ysb::EventType::kClick};
      picked_count += event.event_type != queries::ysb::EventType::kPurchase ? 1 : 0;
    }
    std::size_t joined_count = 0;
    for (std::size_t i = 0; i < picked_count; ++i) {
      const std::uint64_t campaign = campaigns->Find(picked[i].id);
      picked[joined_count] = {.id = campaign, .is_click = picked[i].is_click};
      joined_count += campaign != 0 ? 1 : 0;
    }
    table.Fold(
        std::span<const Picked>(picked).first(joined_count), [](const Picked& event) { return event.id; },
        [](Account& account, const Picked& event) {
          account.clicks += event.is_click ? 1 : 0;
          account.views += event.is_click ? 0 : 1;
        });
  }

  std::shared_ptr<const queries::ysb::CampaignTable> campaigns;
};

struct BidFold {
  struct Account {
    std::uint64_t value() const { return price; }

    std::uint64_t price;
  };
  using Record = queries::nexmark::Bid;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& bid) { return bid.event_time_ms; }

  void FoldChunk(std::span<const Record> bids, Table& table) const { FoldAll(bids, table); }

  struct Item {
    std::uint64_t auction;
    std::uint64_t price;
  };

  std::size_t Project(std::span<const Record> bids, Item* items) const {
    for (const Record& bid : bids) {
      *items++ = {.auction = bid.auction, .price = bid.price};
    }
    return bids.size();
  }
  void FoldItems(std::span<const Item> items, Table& table) const { FoldAll(items, table); }

 private:
  template <typename R>
  static void FoldAll(std::span<const R> bids, Table& table) {
    table.Fold(
        bids, [](const R& bid) { return bid.auction; },
        [](Account& account, const R& bid) { account.price = std::max(account.price, bid.price); });
  }
};

struct CpuMeanFold {
  struct Account {
    double value() const { return sum / static_cast<double>(count); }

    double sum;
    std::uint64_t count;
  };
  using Record = queries::cm::TaskEvent;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& event) { return queries::cm::TaskEventTime{}(event); }

  void FoldChunk(std::span<const Record> events, Table& table) const { FoldAll(events, table); }

  struct Item {
    std::int64_t job_id;
    float cpu;
  };

  std::size_t Project(std::span<const Record> events, Item* items) const {
    for (const Record& event : events) {
      *items++ = {.job_id = event.job_id, .cpu = event.cpu};
    }
    return events.size();
  }
  void FoldItems(std::span<const Item> items, Table& table) const { FoldAll(items, table); }

 private:
  template <typename R>
  static void FoldAll(std::span<const R> events, Table& table) {
    table.Fold(
        events, [](const R& event) { return static_cast<std::uint64_t>(event.job_id); },
        [](Account& account, const R& event) {
          account.sum += double{event.cpu};
          ++account.count;
        });
  }
};

struct ItemFold {
  using Record = queries::ro::Item;
  using Table = AccountTable<CountOf>;

  static std::int64_t TimeMs(const Record& item) { return item.event_time_ms; }

  void FoldChunk(std::span<const Record> items, Table& table) const {
    table.Fold(
        items, [](const Record& item) { return item.key; }, [](CountOf& account, const Record&) { ++account.count; });
  }

  using Item = std::uint64_t;  // the key

  std::size_t Project(std::span<const Record> items, Item* keys) const {
    for (const Record& item : items) {
      *keys++ = item.key;
    }
    return items.size();
  }
  void FoldItems(std::span<const Item> keys, Table& table) const { CountKeys(keys, table); }
};

/// How many events there are, of all ads together: swa. Nothing of an event counts but its time.
struct AllEventsFold {
  using Record = queries::swa::AirEvent;
  using Table = OneCount;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const { table.Add(events.size()); }
};

}  // namespace glaive::bench
