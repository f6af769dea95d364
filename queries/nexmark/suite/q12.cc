// Query 12, processing time windows: how many bids a bidder makes in 10 s of the clock of the executor that reads them.
//
//   SELECT bidder, count(*) AS bid_count, window_start AS starttime, window_end AS endtime
//   FROM TUMBLE((SELECT *, proctime() AS p_time FROM bid), p_time, 10 s)
//   GROUP BY bidder, window_start, window_end
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/api/stream.h"
#include "engine/api/together.h"
#include "engine/source/processing_time.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/read_times.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q12Row {
  std::uint64_t bidder;
  std::uint64_t bid_count;
  std::int64_t starttime;
  std::int64_t endtime;
};
GLAIVE_RECORD(Q12Row, bidder, bid_count, starttime, endtime)

using BidsOfTime = engine::WindowResult<std::uint64_t, std::uint64_t>;

ReadBid ToReadBid(std::uint64_t bidder, std::int64_t time_ms) { return {.bidder = bidder, .time_ms = time_ms}; }

}  // namespace

std::unique_ptr<engine::Query> BuildQ12(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  const auto bidders = engine::From(engine::ProcessingTime(events)).FilterMap(events::BidderOf{});
  std::unique_ptr<engine::GraphQuery> query =
      engine::Stream(bidders)
          .KeyBy([](std::uint64_t bidder) { return bidder; })
          .Window(engine::Tumbling{options.processing_time_window})
          .Aggregate(engine::Count{})
          .Map([](const BidsOfTime& window) {
            return Q12Row{window.key, window.value, window.window_start_ms, window.window_end_ms};
          })
          .To(results);
  if (!options.read_times_file.empty()) {
    query = engine::Together(query,
                             engine::Stream(bidders).MapWithTime(&ToReadBid).To(engine::Csv{options.read_times_file}));
  }
  if (options.read_times != nullptr) {
    query = engine::Together(
        query, engine::Stream(bidders).MapWithTime(&ToReadBid).Broadcast().To(RetainReadTimes{options.read_times}));
  }
  return query;
}

}  // namespace glaive::queries::nexmark::suite
