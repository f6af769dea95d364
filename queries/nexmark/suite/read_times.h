// ReadTimes: when each bid was read, as the engine says it. Processing time is another one in each run; so the check of
// query 12 counts these bids again, and --read-times=FILE shows them.
//
//   bids.MapWithTime([](std::uint64_t bidder, std::int64_t time_ms) { return ReadBid{bidder, time_ms}; })
//       .Broadcast()
//       .To(RetainReadTimes{times})
//
// One executor of a process adds to it, so there is no lock: each executor of a Broadcast() has the bids of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/sink/sink.h"
#include "rdma/base/ids.h"
#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {

struct ReadBid {
  std::uint64_t bidder;
  std::int64_t time_ms;  // since 1970
};
GLAIVE_RECORD(ReadBid, bidder, time_ms)

class ReadTimes {
 public:
  /// Retains at most so many bids, at this executor of the process.
  ReadTimes(std::size_t most_bids, ExecutorId retainer) : most_bids_(most_bids), retainer_(retainer) {}

  ExecutorId retainer() const { return retainer_; }
  const std::vector<ReadBid>& bids() const { return bids_; }

  /// ResourceExhausted beyond the limit.
  absl::Status Add(std::span<const ReadBid> bids);

 private:
  const std::size_t most_bids_;
  const ExecutorId retainer_;
  std::vector<ReadBid> bids_;
};

/// The sink.
struct RetainReadTimes {
  std::shared_ptr<ReadTimes> times;

  template <typename Row>
    requires std::same_as<Row, ReadBid>
  engine::SinkFactory<Row> Factory() const {
    return OpenSink(times);
  }

  static engine::SinkFactory<ReadBid> OpenSink(std::shared_ptr<ReadTimes> times);
};

}  // namespace glaive::queries::nexmark::suite
