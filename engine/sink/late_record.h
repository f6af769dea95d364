// LateRecord: what `.LateTo(sink)` hands to its sink: a record that came when the windows it belongs to had closed.
//
// The executor that read the record writes it: a reader has a sink of its own. A record that is late for some of its
// windows only is none of these; it shows in the others.
//
//   From(source).KeyBy(&Bid::auction).Window(...).LateTo(Csv{"late.csv"}).Aggregate(Count{}).To(...)
#pragma once

#include <cstdint>
#include <tuple>

#include "state/record/record.h"

namespace glaive::engine {

/// `record` is what the steps before KeyBy made of it; its time was judged by the reader's watermark, from which the
/// allowed lateness is taken off already.
template <typename R>
struct LateRecord {
  using Members = std::tuple<std::int64_t, std::int64_t, R>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("record", self.record);
  }

  std::int64_t event_time_ms = 0;
  std::int64_t watermark_ms = 0;
  R record{};

  friend bool operator==(const LateRecord&, const LateRecord&) = default;
};

}  // namespace glaive::engine
