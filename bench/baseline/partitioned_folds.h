// PartitionedFold: how two threads share the fold of a query's hand-written loop (queries/loops/window_loop.h): one
// sends the other an Item of each record, the fields that the fold reads. There is one for each query that a
// PartitionLoop runs.
//
//   PartitionedFold<queries::nb7::BidFold> fold{bid_fold};
//   std::size_t count = fold.Project(bids, items);   // in one thread
//   fold.FoldItems(items, table);                    // in the other one
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "queries/cm/cpu_mean_fold.h"
#include "queries/loops/key_counts.h"
#include "queries/nb7/bid_fold.h"
#include "queries/ro/item_fold.h"
#include "queries/ysb/ysb_fold.h"

namespace glaive::bench {

/// Project writes the items of at most Table::kRecordsAtOnce records, and returns their number.
template <typename Fold>
struct PartitionedFold;

template <>
struct PartitionedFold<queries::ysb::YsbFold> {
  using Record = queries::ysb::YsbFold::Record;
  using Table = queries::ysb::YsbFold::Table;
  using Item = std::uint64_t;  // the key of a view

  std::size_t Project(std::span<const Record> events, Item* keys) const { return fold.PickKeys(events, keys); }
  static void FoldItems(std::span<const Item> keys, Table& table) { queries::CountKeys(keys, table); }

  queries::ysb::YsbFold fold;
};

template <>
struct PartitionedFold<queries::nb7::BidFold> {
  using Record = queries::nb7::BidFold::Record;
  using Table = queries::nb7::BidFold::Table;
  struct Item {
    std::uint64_t auction;
    std::uint64_t price;
  };

  static std::size_t Project(std::span<const Record> bids, Item* items) {
    for (const Record& bid : bids) {
      *items++ = {.auction = bid.auction, .price = bid.price};
    }
    return bids.size();
  }
  static void FoldItems(std::span<const Item> items, Table& table) { queries::nb7::BidFold::FoldChunk(items, table); }

  queries::nb7::BidFold fold;
};

template <>
struct PartitionedFold<queries::cm::CpuMeanFold> {
  using Record = queries::cm::CpuMeanFold::Record;
  using Table = queries::cm::CpuMeanFold::Table;
  struct Item {
    std::int64_t job_id;
    float cpu;
  };

  static std::size_t Project(std::span<const Record> events, Item* items) {
    for (const Record& event : events) {
      *items++ = {.job_id = event.job_id, .cpu = event.cpu};
    }
    return events.size();
  }
  static void FoldItems(std::span<const Item> items, Table& table) {
    queries::cm::CpuMeanFold::FoldChunk(items, table);
  }

  queries::cm::CpuMeanFold fold;
};

template <>
struct PartitionedFold<queries::ro::ItemFold> {
  using Record = queries::ro::ItemFold::Record;
  using Table = queries::ro::ItemFold::Table;
  using Item = std::uint64_t;  // the key

  static std::size_t Project(std::span<const Record> items, Item* keys) {
    for (const Record& item : items) {
      *keys++ = item.key;
    }
    return items.size();
  }
  static void FoldItems(std::span<const Item> keys, Table& table) { queries::CountKeys(keys, table); }

  queries::ro::ItemFold fold;
};

}  // namespace glaive::bench
