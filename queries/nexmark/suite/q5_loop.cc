// Query 5 as a hand-written loop.
//
// A bid is counted in the slice of its time, which is as long as the slide. Where a slice ends, its counts are added to
// those of the window that ends with it, and those of the slice that falls out are subtracted. So each bid is counted
// once, although it is in several windows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "queries/loops/account_table.h"
#include "queries/loops/chunk.h"
#include "queries/loops/key_counts.h"
#include "queries/loops/loop_query.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::EventTime;
using events::Kind;

class HotItemsLoop {
 public:
  using Record = Event;
  using Row = Q5Row;
  using Counts = AccountTable<CountOf>;

  static absl::StatusOr<HotItemsLoop> Create(const SuiteOptions& options, std::uint64_t auctions) {
    absl::StatusOr<Counts> counts = Counts::Create(auctions);
    if (!counts.ok()) {
      return counts.status();
    }
    return HotItemsLoop(options, *std::move(counts));
  }

  /// Bytes of the counts of so many auctions, each of which gets its bids in a few slices.
  static std::uint64_t MemoryBytes(std::uint64_t auctions) {
    constexpr std::uint64_t kInSlicesAndWindow = 128;
    return Counts::MemoryBytes(auctions) + auctions * kInSlicesAndWindow;
  }

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t shift_ms, const Emit& emit) {
    for (std::span<const Event> rest = events; !rest.empty();) {
      const std::int64_t first_ms = rest.front().date_time + shift_ms;
      if (!slice_end_ms_.has_value()) {
        slice_end_ms_ = first_ms - first_ms % slide_ms_ + slide_ms_;
      }
      while (first_ms >= *slice_end_ms_) {
        EndSlice(emit);
      }
      const auto chunk = ChunkBefore(*slice_end_ms_ - shift_ms, rest, Counts::kRecordsAtOnce, EventTime{});
      rest = rest.subspan(chunk.size());
      Count(chunk);
    }
  }

  /// Emits the windows of the last bids.
  template <typename Emit>
  void End(const Emit& emit) {
    for (std::size_t i = 0; slice_end_ms_.has_value() && i < slices_.size(); ++i) {
      EndSlice(emit);
    }
    slice_end_ms_.reset();
  }

 private:
  struct Counted {
    std::uint64_t auction;
    std::uint64_t count;
  };

  HotItemsLoop(const SuiteOptions& options, Counts counts)
      : window_ms_(absl::ToInt64Milliseconds(options.hot_items_window)),
        slide_ms_(absl::ToInt64Milliseconds(options.hot_items_slide)),
        one_hot_item_(options.one_hot_item),
        slice_(std::move(counts)),
        slices_(static_cast<std::size_t>(window_ms_ / slide_ms_)) {}

  /// Counts the bids of at most Counts::kRecordsAtOnce events of a slice.
  void Count(std::span<const Event> events) {
    std::array<std::uint64_t, Counts::kRecordsAtOnce> auctions;
    std::size_t bids = 0;
    for (const Event& event : events) {
      auctions[bids] = event.numbers[0];
      bids += event.kind == Kind::kBid ? 1 : 0;
    }
    CountKeys(std::span(auctions).first(bids), slice_);
  }

  /// Emits the window that ends with the current slice; its oldest slice makes room for the next.
  template <typename Emit>
  void EndSlice(const Emit& emit) {
    std::vector<Counted>& newest = slices_[newest_];
    slice_.Drain([&](std::uint64_t auction, const CountOf& counted) {
      newest.push_back({.auction = auction, .count = counted.count});
      window_[auction] += counted.count;
    });
    EmitHottest(emit);
    newest_ = (newest_ + 1) % slices_.size();
    for (const auto& [auction, count] : slices_[newest_]) {
      const auto counted = window_.find(auction);
      counted->second -= count;
      if (counted->second == 0) {
        window_.erase(counted);
      }
    }
    slices_[newest_].clear();
    *slice_end_ms_ += slide_ms_;
  }

  template <typename Emit>
  void EmitHottest(const Emit& emit) const {
    std::uint64_t most = 0;
    std::uint64_t first_of_hottest = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [auction, count] : window_) {
      first_of_hottest = count > most    ? auction
                         : count == most ? std::min(first_of_hottest, auction)
                                         : first_of_hottest;
      most = std::max(most, count);
    }
    for (const auto& [auction, count] : window_) {
      if (count == most && (!one_hot_item_ || auction == first_of_hottest)) {
        emit(Q5Row{.auction = auction,
                   .num = count,
                   .window_start_ms = *slice_end_ms_ - window_ms_,
                   .window_end_ms = *slice_end_ms_});
      }
    }
  }

  std::int64_t window_ms_;
  std::int64_t slide_ms_;
  bool one_hot_item_;
  std::optional<std::int64_t> slice_end_ms_ = {};             // of the current slice
  Counts slice_;                                              // the current one
  std::vector<std::vector<Counted>> slices_;                  // a ring: the window that ends with the current slice
  std::size_t newest_ = 0;                                    // the place in slices_ of the current slice
  absl::flat_hash_map<std::uint64_t, std::uint64_t> window_;  // bids by auction in the complete ones of these slices
};

}  // namespace

std::unique_ptr<engine::Query> LoopQ5(const Events& events, const SuiteOptions& options, const MostIds& ids,
                                      const engine::Results& results) {
  return LoopQueryOver(
      events, HotItemsLoop::MemoryBytes(ids.auctions),
      [options, ids] { return HotItemsLoop::Create(options, ids.auctions); }, results);
}

}  // namespace glaive::queries::nexmark::suite
