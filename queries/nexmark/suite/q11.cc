// Query 11, user sessions: how many bids a bidder makes before a pause of 10 s.
//
//   SELECT bidder, count(*) AS bid_count, session_start(date_time, 10 s) AS starttime, session_end(...) AS endtime
//   FROM bid
//   GROUP BY bidder, SESSION(date_time, 10 s)
#include <cstdint>

#include "engine/api/stream.h"
#include "queries/nexmark/suite/queries.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct Q11Row {
  std::uint64_t bidder;
  std::uint64_t bid_count;
  std::int64_t starttime;
  std::int64_t endtime;
};
GLAIVE_RECORD(Q11Row, bidder, bid_count, starttime, endtime)

using BidsOfSession = engine::WindowResult<std::uint64_t, std::uint64_t>;

}  // namespace

std::unique_ptr<engine::Query> BuildQ11(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results) {
  return engine::From(events)
      .FilterMap(events::BidderOf{})
      .KeyBy([](std::uint64_t bidder) { return bidder; })
      .Window(engine::Session{options.session_gap})
      .AllowedLateness(options.allowed_lateness)
      .Aggregate(engine::Count{})
      .Map([](const BidsOfSession& session) {
        return Q11Row{session.key, session.value, session.window_start_ms, session.window_end_ms};
      })
      .To(results);
}

}  // namespace glaive::queries::nexmark::suite
