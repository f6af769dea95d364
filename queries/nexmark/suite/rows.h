// The rows of queries 1, 2, 5, 7 and 8, which the engine's query and the hand-written loop share.
#pragma once

#include <cstdint>

#include "queries/nexmark/suite/thousandths.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::queries::nexmark::suite {

struct Q1Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  Thousandths price;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Q1Row, auction, bidder, price, date_time, extra)

struct Q2Row {
  std::uint64_t auction;
  std::uint64_t price;
};
GLAIVE_RECORD(Q2Row, auction, price)

struct Q5Row {
  std::uint64_t auction;
  std::uint64_t num;
  std::int64_t window_start_ms;
  std::int64_t window_end_ms;
};
GLAIVE_RECORD(Q5Row, auction, num, window_start_ms, window_end_ms)

struct Q7Row {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t date_time;
  Text extra;
};
GLAIVE_RECORD(Q7Row, auction, bidder, price, date_time, extra)

struct Q8Row {
  std::uint64_t id;
  Text name;
  std::int64_t starttime;
};
GLAIVE_RECORD(Q8Row, id, name, starttime)

}  // namespace glaive::queries::nexmark::suite
