// What a sequential program emits for the queries with windows, by standard containers that hold all of them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"

#include "queries/nexmark/suite/plain_events.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::Kind;

constexpr std::int64_t kDayMs = 86'400'000;

std::string Joined(std::initializer_list<std::int64_t> numbers) { return absl::StrJoin(numbers, ","); }

std::int64_t Signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }

/// What an auction has in a day.
struct DayOfAuction {
  void Add(std::int64_t price) {
    prices.push_back(price);
    ++ranks[price < 10'000 ? 0 : price < 1'000'000 ? 1 : 2];
  }

  std::vector<std::int64_t> prices;
  std::array<std::int64_t, 3> ranks{};
};

/// "2015-07-15" of a day since 1970.
std::string DateOf(std::int64_t day) {
  const std::time_t seconds = day * 86'400;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::string date(10, ' ');
  std::strftime(date.data(), date.size() + 1, "%Y-%m-%d", &parts);
  return date;
}

/// All bids of a group and day.
struct Crowd {
  void Add(const PlainBid& bid) {
    latest = std::max(latest, bid.time);
    const std::size_t rank = bid.price < 10'000 ? 1 : bid.price < 1'000'000 ? 2 : 3;
    for (const std::size_t of : {std::size_t{0}, rank}) {
      ++bids[of];
      bidders[of].insert(bid.bidder);
      auctions[of].insert(bid.auction);
    }
  }
  std::string Counts() const {
    std::string line;
    for (const std::int64_t count : bids) line += std::to_string(count) + ",";
    for (const auto& ids : bidders) line += std::to_string(ids.size()) + ",";
    for (const auto& ids : auctions) line += std::to_string(ids.size()) + ",";
    line.pop_back();
    return line;
  }

  std::int64_t latest = 0;
  std::array<std::int64_t, 4> bids{};
  std::array<std::set<std::uint64_t>, 4> bidders;
  std::array<std::set<std::uint64_t>, 4> auctions;
};

/// Calls `show(group, day, minute of the last bid, counts)` for each group and day.
template <typename GroupOf, typename Show>
absl::Status RecomputeDays(const EventFlows& flows, const GroupOf& group_of, const Show& show) {
  std::map<std::pair<std::string, std::int64_t>, Crowd> crowds;
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    const std::int64_t day = event.date_time / kDayMs;
    if (event.kind == Kind::kBid && (day + 1) * kDayMs > watermark_ms) {
      const PlainBid bid(event);
      crowds[{group_of(bid), day}].Add(bid);
    }
  });
  for (const auto& [of, crowd] : crowds) {
    const std::int64_t minutes = crowd.latest % kDayMs / 60'000;
    std::string minute = "00:00";
    minute[0] += static_cast<char>(minutes / 600);
    minute[1] += static_cast<char>(minutes / 60 % 10);
    minute[3] += static_cast<char>(minutes % 60 / 10);
    minute[4] += static_cast<char>(minutes % 10);
    show(of.first, DateOf(of.second), minute, crowd.Counts());
  }
  return status;
}

}  // namespace

absl::Status RecomputeQ5(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.hot_items_window);
  const std::int64_t slide_ms = absl::ToInt64Milliseconds(options.hot_items_slide);
  std::map<std::int64_t, std::map<std::uint64_t, std::int64_t>> counts;  // by the window's end, and auction
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    if (event.kind != Kind::kBid) {
      return;
    }
    // Windows end at multiples of the slide; those that cover the bid end behind it, the last one by a window's length.
    for (std::int64_t end = event.date_time / slide_ms * slide_ms + slide_ms; end - window_ms <= event.date_time;
         end += slide_ms) {
      if (end > watermark_ms) {
        ++counts[end][event.numbers[0]];
      }
    }
  });
  for (const auto& [end, of_window] : counts) {
    std::int64_t most = 0;
    for (const auto& [auction, count] : of_window) {
      most = std::max(most, count);
    }
    for (const auto& [auction, count] : of_window) {
      if (count == most) {
        emit(Joined({Signed(auction), count, end - window_ms, end}));
        if (options.one_hot_item) {
          break;
        }
      }
    }
  }
  return status;
}

absl::Status RecomputeQ11(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  const std::int64_t gap_ms = absl::ToInt64Milliseconds(options.session_gap);
  std::map<std::uint64_t, std::multiset<std::int64_t>> times;  // by bidder
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    if (event.kind == Kind::kBid && event.date_time >= watermark_ms) {
      times[event.numbers[1]].insert(event.date_time);
    }
  });
  for (const auto& [bidder, of_bidder] : times) {
    for (auto first = of_bidder.begin(); first != of_bidder.end();) {
      auto last = first;
      while (std::next(last) != of_bidder.end() && *std::next(last) - *last < gap_ms) {
        ++last;
      }
      emit(Joined({Signed(bidder), std::distance(first, std::next(last)), *first, *last + gap_ms}));
      first = std::next(last);
    }
  }
  return status;
}

/// Of the times that the engine says, which are those of all bids that were read, each once.
absl::Status RecomputeQ12(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.processing_time_window);
  std::map<std::uint64_t, std::int64_t> left;                             // bids by bidder, without a time so far
  std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> counts;  // by bidder and window
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t /*watermark_ms*/) {
    left[event.numbers[1]] += event.kind == Kind::kBid ? 1 : 0;
  });
  for (const ReadBid& bid : options.read_times->bids()) {
    --left[bid.bidder];
    ++counts[{bid.bidder, bid.time_ms / window_ms}];
  }
  const auto wrong = std::ranges::find_if(left, [](const auto& bids) { return bids.second != 0; });
  if (status.ok() && wrong != left.end()) {
    status = absl::DataLossError("q12 results are wrong: of bidder " + std::to_string(wrong->first) + " " +
                                 std::to_string(wrong->second) + " more bids were read than have a time of reading");
  }
  for (const auto& [of, count] : counts) {
    emit(Joined({Signed(of.first), count, of.second * window_ms, (of.second + 1) * window_ms}));
  }
  return status;
}

absl::Status RecomputeQ15(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return RecomputeDays(
      flows, [](const PlainBid& /*bid*/) { return std::string(); },
      [&](const std::string& /*group*/, const std::string& day, const std::string& /*minute*/,
          const std::string& counts) { emit(day + "," + counts); });
}

absl::Status RecomputeQ16(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return RecomputeDays(
      flows, [](const PlainBid& bid) { return bid.channel; },
      [&](const std::string& channel, const std::string& day, const std::string& minute, const std::string& counts) {
        emit(channel + "," + day + "," + minute + "," + counts);
      });
}

absl::Status RecomputeQ17(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  std::map<std::pair<std::uint64_t, std::int64_t>, DayOfAuction> days;  // by auction and day
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    const std::int64_t day = event.date_time / kDayMs;
    if (event.kind == Kind::kBid && (day + 1) * kDayMs > watermark_ms) {
      days[{event.numbers[0], day}].Add(Signed(event.numbers[2]));
    }
  });
  for (const auto& [of, day] : days) {
    const std::int64_t count = std::ssize(day.prices);
    std::int64_t sum = 0;
    for (const std::int64_t price : day.prices) {
      sum += price;
    }
    emit(std::to_string(of.first) + "," + DateOf(of.second) + "," +
         Joined({count, day.ranks[0], day.ranks[1], day.ranks[2], *std::ranges::min_element(day.prices),
                 *std::ranges::max_element(day.prices), sum / count, sum}));
  }
  return status;
}

}  // namespace glaive::queries::nexmark::suite
