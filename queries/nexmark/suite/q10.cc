// Query 10, log to file system: the bids in a folder for each day and minute.
//
//   SELECT auction, bidder, price, date_time, extra, date_format(date_time, 'yyyy-MM-dd') AS dt,
//          date_format(date_time, 'HH:mm') AS hm
//   FROM bid
//
// The suite for Flink writes these rows to files that are partitioned by dt and hm, as here --partitions=FOLDER does.
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/api/stream.h"
#include "engine/api/together.h"
#include "engine/sink/partitioned_csv.h"
#include "queries/common/date_texts.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Bid;

/// As a file of a partition has it.
struct LoggedBid {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(LoggedBid, auction, bidder, price, date_time, extra)

struct Q10Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text extra;
  Text dt;
  Text hm;
};
GLAIVE_RECORD(Q10Row, auction, bidder, price, date_time, extra, dt, hm)

std::array<Text, 2> PartitionOf(const LoggedBid& bid) { return {DayOf(bid.date_time), MinuteOf(bid.date_time)}; }

}  // namespace

std::unique_ptr<engine::Query> BuildQ10(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  const auto bids = engine::From(events).FilterMap(events::BidOf{});
  std::unique_ptr<engine::GraphQuery> rows = engine::Stream(bids)
                                                 .Map([](const Bid& bid) {
                                                   return Q10Row{bid.auction,
                                                                 bid.bidder,
                                                                 bid.price,
                                                                 bid.date_time,
                                                                 bid.extra,
                                                                 DayOf(bid.date_time),
                                                                 MinuteOf(bid.date_time)};
                                                 })
                                                 .To(results);
  if (options.partitions.empty()) {
    return rows;
  }
  return engine::Together(
      rows,
      engine::Stream(bids)
          .Map([](const Bid& bid) { return LoggedBid{bid.auction, bid.bidder, bid.price, bid.date_time, bid.extra}; })
          .To(engine::PartitionedCsv{options.partitions, std::array<std::string, 2>{"dt", "hm"}, &PartitionOf,
                                     options.most_partitions}));
}

}  // namespace glaive::queries::nexmark::suite
