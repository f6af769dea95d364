// SessionLoop: `swa --windows=session` as a hand-written loop, in one thread, no engine code.
//
// It does what the query does: count the events of each session, of all ads together or of each ad, and emit a session
// when it has ended. An event that comes a gap or more behind its key's last one ends the session before it. Once a
// gap, the loop sweeps all cells for sessions that have ended without a successor. Everything is mapped and touched
// before the first event.
//
// Requires: event times never decrease, ads are never 0. Owned and used by one thread.
//
//   auto loop = SessionLoop<std::uint64_t>::Create({.gap_ms = 10'000, .ads = 1'000});
//   loop->Take(events, /*shift_ms=*/0, emit);   // any number of times
//   loop->End(emit);                            // empty again
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"

#include "engine/sink/sink.h"
#include "queries/loops/session_table.h"
#include "queries/swa/air_event.h"

namespace glaive::queries::swa {

struct SessionLoopOptions {
  std::int64_t gap_ms = 1;
  std::uint64_t ads = 1;  // the most distinct ones
};

/// Counts the events of each ad: `Key` is std::uint64_t. Or of all together: it is engine::AllRecords.
template <typename Key>
class SessionLoop {
 public:
  using Record = AirEvent;
  using Row = engine::WindowResult<Key, std::uint64_t>;

  static std::uint64_t MemoryBytes(const SessionLoopOptions& options) {
    return Table::MemoryBytes(kByAd ? options.ads : 1);
  }

  static absl::StatusOr<SessionLoop> Create(const SessionLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(kByAd ? options.ads : 1);
    return table.ok() ? absl::StatusOr<SessionLoop>(SessionLoop(options, *std::move(table))) : table.status();
  }

  /// Takes events, to whose times `shift_ms` is added. Calls `emit(row)` for sessions that it finds to have ended.
  template <typename Emit>
  void Take(std::span<const AirEvent> events, std::int64_t shift_ms, const Emit& emit) {
    if constexpr (kByAd) {
      for (const AirEvent& event : events) {
        const std::int64_t time_ms = event.event_time_ms + shift_ms;
        if (time_ms >= sweep_ms_) {
          Sweep(time_ms, emit);
          sweep_ms_ = time_ms + options_.gap_ms;
        }
        Count(time_ms, table_.CellOf(event.ad_id), emit);
      }
    } else {
      Session session = all_;  // in registers
      for (const AirEvent& event : events) {
        Count(event.event_time_ms + shift_ms, session, emit);
      }
      all_ = session;
    }
  }

  /// The stream ends, and with it all sessions.
  template <typename Emit>
  void End(const Emit& emit) {
    EndSession(all_, emit);
    for (Session& session : table_.cells()) {
      EndSession(session, emit);
      session = {};
    }
    sweep_ms_ = kNever;
  }

 private:
  static constexpr bool kByAd = std::is_same_v<Key, std::uint64_t>;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  struct Session {
    std::uint64_t key = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::uint64_t count = 0;  // 0: none is open
  };
  using Table = SessionTable<Session>;

  SessionLoop(const SessionLoopOptions& options, Table table) : options_(options), table_(std::move(table)) {}

  template <typename Emit>
  void Count(std::int64_t time_ms, Session& session, const Emit& emit) const {
    if (session.count == 0 || time_ms - session.last_ms >= options_.gap_ms) {
      EndSession(session, emit);
      session.first_ms = time_ms;
    }
    session.last_ms = time_ms;
    ++session.count;
  }

  template <typename Emit>
  void Sweep(std::int64_t now_ms, const Emit& emit) {
    for (Session& session : table_.cells()) {
      if (session.count != 0 && now_ms - session.last_ms >= options_.gap_ms) {
        EndSession(session, emit);
      }
    }
  }

  template <typename Emit>
  void EndSession(Session& session, const Emit& emit) const {
    if (session.count != 0) {
      Key key{};
      if constexpr (kByAd) {
        key = session.key;
      }
      emit(Row{.window_start_ms = session.first_ms,
               .window_end_ms = session.last_ms + options_.gap_ms,
               .key = key,
               .value = std::exchange(session.count, 0)});
    }
  }

  SessionLoopOptions options_;
  Table table_;    // of ads
  Session all_{};  // of all events
  std::int64_t sweep_ms_ = kNever;
};

}  // namespace glaive::queries::swa
