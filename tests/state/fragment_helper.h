// FragmentHelper: executor 0's fragment and a wire that takes what it ships, for tests of what leaves a fragment.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "state/store/delta_entry.h"
#include "state/store/fragment.h"
#include "tests/state/delta_wire.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {

inline constexpr std::uint32_t kMinSlotBytes = 256;
inline constexpr std::size_t kMinRunsBytes = 128;  // of a slot of so many
inline constexpr std::uint32_t kInput = 3;

using SliceKey = std::pair<std::int64_t, std::uint64_t>;
using Sums = std::map<SliceKey, absl::int128>;

inline constexpr DeltaEntryBytes kEntryBytes{.update = sizeof(Update), .form = sizeof(Form)};
static_assert(sizeof(Update) == 16 && sizeof(Form) == 24);

inline std::uint32_t LeaderOfKey(std::uint64_t key, std::uint32_t executors) {
  return Value(LeaderOf(kTestHash(key), executors));
}

inline absl::int128 SumOf(const Update& update) { return update.input; }
inline absl::int128 SumOf(const Form& form) { return form.form.Result(); }

/// Updates of so many different keys that `leader` leads, each by 1.
inline std::vector<Update> UpdatesFor(std::uint32_t leader, std::uint32_t executors, std::size_t count) {
  std::vector<Update> updates;
  for (std::uint64_t key = 0; updates.size() < count; ++key) {
    if (LeaderOfKey(key, executors) == leader) {
      updates.push_back(Of(key, 1));
    }
  }
  return updates;
}

/// Executor 0's fragment of a run of `executors`, and a wire that takes what it ships to any leader.
class FragmentHelper {
 public:
  FragmentHelper(std::uint32_t executors, std::uint32_t slot_bytes, std::uint64_t fragment_bytes,
                 DeltaObserver* observer = nullptr)
      : executors_(executors),
        geometry_(FragmentGeometry::Plan(executors, slot_bytes, sizeof(Form), fragment_bytes).value()),
        wire_(slot_bytes, geometry_.pool_segments),
        outbox_(executors, wire_.pool()),
        fragment_(wire_.pool(), outbox_, ExecutorId{0}, Leaders(executors), geometry_, sizeof(Form), kInput, observer) {
  }

  Fragment& fragment() { return fragment_; }
  Outbox& outbox() { return outbox_; }
  DeltaWire& wire() { return wire_; }
  std::uint64_t epoch() const { return epoch_; }

  template <typename E>
  void Append(std::int64_t slice, const std::vector<E>& entries) {
    fragment_.Begin(SliceId{slice}, E::kKind);
    for (const E& entry : entries) {
      fragment_.Append(Value(LeaderOf(kTestHash(entry.key), executors_)), entry);
    }
  }

  bool TrySeal(std::uint32_t leader) {
    return fragment_.TrySeal(ExecutorId{leader}, MarkerOf(0, epoch_, static_cast<std::int64_t>(epoch_)));
  }

  /// Seals everything into the outbox, calling `wait` while there is no segment for a marker.
  void EndEpoch(const std::function<void()>& wait) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (!TrySeal(leader)) {
        wait();
      }
    }
    fragment_.AllSealed();
    ++epoch_;
  }

  /// What is the next for a leader.
  std::optional<ReceivedDelta> Take(std::uint32_t leader) {
    if (!outbox_.TrySend(ExecutorId{leader}, wire_.sender())) {
      return std::nullopt;
    }
    return wire_.Receive();
  }

  /// Ships everything in the outbox; what a leader got is added to `received`, checked chunk by chunk.
  void Ship(Sums& received) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (const auto delta = Take(leader)) {
        ASSERT_EQ(delta->tag.input, kInput);
        ASSERT_EQ(delta->payload.size(), delta->tag.runs_bytes + delta->tag.has_marker * kMarkerBytes);
        for (const ReceivedRun& run : delta->Runs(kEntryBytes)) {
          if (run.header.kind == DeltaKind::kUpdate) {
            AddTo(received, leader, run.header.slice, run.Entries<Update>());
          } else {
            AddTo(received, leader, run.header.slice, run.Entries<Form>());
          }
        }
      }
    }
  }

 private:
  template <typename E>
  void AddTo(Sums& sums, std::uint32_t leader, SliceId slice, const std::vector<E>& entries) {
    for (const E& entry : entries) {
      ASSERT_EQ(LeaderOfKey(entry.key, executors_), leader);
      sums[{Value(slice), entry.key}] += SumOf(entry);
    }
  }

  std::uint32_t executors_;
  FragmentGeometry geometry_;
  DeltaWire wire_;
  Outbox outbox_;
  Fragment fragment_;
  std::uint64_t epoch_ = 1;
};

inline void NoWait() { FAIL() << "there are segments enough"; }

/// The sizes of a chunk's runs.
inline std::vector<std::uint32_t> CountsOf(const ReceivedDelta& delta) {
  std::vector<std::uint32_t> counts;
  for (const ReceivedRun& run : delta.Runs(kEntryBytes)) {
    counts.push_back(run.header.entry_count);
  }
  return counts;
}

using Counts = std::vector<std::uint32_t>;

}  // namespace glaive::state
