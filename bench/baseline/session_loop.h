// SessionLoop: the hand-written loop that the engine's session aggregation is measured against: SWA in sessions, in one
// thread, no engine code.
//
// It does what the query does, on the same bytes: count the events of each session, of all ads together or of each ad,
// and emit a session when it has ended, to a sink that keeps totals. An event that comes a gap or more behind its key's
// last one ends the session before it; once a gap, all cells are swept for sessions that have ended without a
// successor. Everything is mapped and touched before the first event.
//
// Requires: event times never decrease within a block and from one block to the next, ads are never 0. Owned and used
// by one thread.
//
//   auto loop = SessionLoop::Create({.gap_ms = 10'000, .ads = 1'000});
//   queries::Totals emitted = loop->Run(events, /*repetitions=*/4, /*block_span_ms=*/100'000);
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/session_table.h"
#include "queries/common/result_row.h"
#include "queries/swa/air_event.h"

namespace glaive::bench {

struct SessionLoopOptions {
  std::int64_t gap_ms = 1;
  std::uint64_t ads = 0;  // the most distinct ones; 0: all events are counted together
};

class SessionLoop {
 public:
  using Event = queries::swa::AirEvent;

  static absl::StatusOr<SessionLoop> Create(const SessionLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.ads == 0 ? 1 : options.ads);
    return table.ok() ? absl::StatusOr<SessionLoop>(SessionLoop(options, *std::move(table))) : table.status();
  }

  /// Runs the query over `block`, `repetitions` times, and ends the stream; returns what it emitted. Event time moves
  /// on by `block_span_ms` with each repetition.
  queries::Totals Run(std::span<const Event> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
    return options_.ads == 0 ? CountAll(block, repetitions, block_span_ms)
                             : CountAds(block, repetitions, block_span_ms);
  }

 private:
  struct Session {
    std::uint64_t key = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::uint64_t count = 0;  // 0: none is open
  };
  using Table = SessionTable<Session>;

  SessionLoop(const SessionLoopOptions& options, Table table) : options_(options), table_(std::move(table)) {}

  queries::Totals CountAll(std::span<const Event> block, std::uint64_t repetitions, std::int64_t block_span_ms) const {
    queries::Totals emitted;
    Session session;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      for (const Event& event : block) {
        Take(event.event_time_ms + moved_on_ms, session, emitted);
      }
    }
    End(session, emitted);
    return emitted;
  }

  queries::Totals CountAds(std::span<const Event> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
    queries::Totals emitted;
    std::int64_t sweep_ms = std::numeric_limits<std::int64_t>::min();
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::int64_t moved_on_ms = static_cast<std::int64_t>(repetition) * block_span_ms;
      for (const Event& event : block) {
        const std::int64_t time_ms = event.event_time_ms + moved_on_ms;
        if (time_ms >= sweep_ms) {
          Sweep(time_ms, emitted);
          sweep_ms = time_ms + options_.gap_ms;
        }
        Take(time_ms, table_.CellOf(event.ad_id), emitted);
      }
    }
    for (Session& session : table_.cells()) {
      End(session, emitted);
      session = {};
    }
    return emitted;
  }

  void Take(std::int64_t time_ms, Session& session, queries::Totals& emitted) const {
    if (session.count == 0 || time_ms - session.last_ms >= options_.gap_ms) {
      End(session, emitted);
      session.first_ms = time_ms;
    }
    session.last_ms = time_ms;
    ++session.count;
  }

  void Sweep(std::int64_t now_ms, queries::Totals& emitted) {
    for (Session& session : table_.cells()) {
      if (session.count != 0 && now_ms - session.last_ms >= options_.gap_ms) {
        End(session, emitted);
      }
    }
  }

  void End(Session& session, queries::Totals& emitted) const {
    if (session.count != 0) {
      emitted.Add({.window_start_ms = session.first_ms,
                   .window_end_ms = session.last_ms + options_.gap_ms,
                   .key = session.key,
                   .value = queries::ValueBits(std::exchange(session.count, 0))});
    }
  }

  SessionLoopOptions options_;
  Table table_;
};

}  // namespace glaive::bench
