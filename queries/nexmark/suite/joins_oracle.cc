// What a sequential program emits for the queries that join, by standard containers that hold the whole stream.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "queries/nexmark/suite/plain_events.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::Kind;

/// Whether an event counts for the tumbling window that covers it.
bool IsInTime(const Event& event, std::int64_t watermark_ms, std::int64_t window_ms) {
  return event.date_time / window_ms * window_ms + window_ms > watermark_ms;
}

/// All auctions, and all bids by their auction.
struct Market {
  std::map<std::uint64_t, PlainAuction> auctions;
  std::map<std::uint64_t, std::vector<PlainBid>> bids;

  absl::Status Read(const EventFlows& flows) {
    return flows.ForEach([&](const Event& event, std::int64_t /*watermark_ms*/) {
      if (event.kind == Kind::kAuction) {
        auctions.emplace(event.numbers[0], event);
      } else if (event.kind == Kind::kBid) {
        bids[event.numbers[0]].emplace_back(event);
      }
    });
  }

  /// Calls `use` with each auction that has a winning bid, and that bid.
  template <typename Use>
  void ForEachWinner(const SuiteOptions& options, const Use& use) {
    for (const auto& [id, auction] : auctions) {
      const PlainBid* winner = nullptr;
      for (const PlainBid& bid : bids[id]) {
        const bool counts =
            options.any_price_until_the_end_wins
                ? bid.time >= auction.time && bid.time <= auction.expires
                : bid.time >= auction.time && bid.time < auction.expires && bid.price >= auction.reserve;
        if (counts && (winner == nullptr || Rank(bid) < Rank(*winner))) {
          winner = &bid;
        }
      }
      if (winner != nullptr) {
        use(auction, *winner);
      }
    }
  }

 private:
  /// The least wins.
  static std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::string> Rank(const PlainBid& bid) {
    return {-static_cast<std::int64_t>(bid.price), bid.time, bid.bidder, bid.extra};
  }
};

/// Rounded down.
std::uint64_t WholeMean(const std::vector<std::uint64_t>& prices) {
  return std::accumulate(prices.begin(), prices.end(), std::uint64_t{0}) / prices.size();
}

}  // namespace

absl::Status RecomputeQ3(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  const std::set<std::string> states = {"OR", "ID", "CA", "or", "id", "ca"};
  std::map<std::uint64_t, PlainPerson> persons;
  std::vector<PlainAuction> auctions;
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t /*watermark_ms*/) {
    if (event.kind == Kind::kPerson) {
      persons.emplace(event.numbers[0], event);
    } else if (event.kind == Kind::kAuction) {
      auctions.emplace_back(event);
    }
  });
  for (const PlainAuction& auction : auctions) {
    const auto seller = persons.find(auction.seller);
    if (auction.category == 10 && seller != persons.end() && states.contains(seller->second.state)) {
      emit(LineOf({seller->second.name, seller->second.city, seller->second.state, auction.id}));
    }
  }
  return status;
}

absl::Status RecomputeQ4(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  Market market;
  absl::Status status = market.Read(flows);
  std::map<std::uint64_t, std::vector<std::uint64_t>> prices;  // by category
  market.ForEachWinner(options, [&](const PlainAuction& auction, const PlainBid& bid) {
    prices[auction.category].push_back(bid.price);
  });
  for (const auto& [category, of_category] : prices) {
    emit(LineOf({category, WholeMean(of_category)}));
  }
  return status;
}

absl::Status RecomputeQ6(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  Market market;
  absl::Status status = market.Read(flows);
  std::map<std::uint64_t, std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>>> sales;  // by seller
  market.ForEachWinner(options, [&](const PlainAuction& auction, const PlainBid& bid) {
    sales[auction.seller].emplace_back(auction.expires, auction.id, bid.price);
  });
  for (auto& [seller, of_seller] : sales) {
    std::ranges::sort(of_seller);
    std::vector<std::uint64_t> last;
    for (; !of_seller.empty() && last.size() < 10; of_seller.pop_back()) {
      last.push_back(std::get<2>(of_seller.back()));
    }
    emit(LineOf({seller, WholeMean(last)}));
  }
  return status;
}

absl::Status RecomputeQ7(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.highest_bid_window);
  std::map<std::int64_t, std::map<std::uint64_t, std::vector<PlainBid>>> bids;  // by window, and price
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    if (event.kind == Kind::kBid && IsInTime(event, watermark_ms, window_ms)) {
      bids[event.date_time / window_ms][event.numbers[2]].emplace_back(event);
    }
  });
  for (const auto& [window, by_price] : bids) {
    for (const PlainBid& bid : by_price.rbegin()->second) {
      emit(LineOf({bid.auction, bid.bidder, bid.price, bid.time, bid.extra}));
    }
  }
  return status;
}

absl::Status RecomputeQ8(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.new_users_window);
  std::set<std::pair<std::int64_t, std::uint64_t>> sellers;  // by window
  std::vector<PlainPerson> persons;
  absl::Status status = flows.ForEach([&](const Event& event, std::int64_t watermark_ms) {
    if (!IsInTime(event, watermark_ms, window_ms)) {
      return;
    }
    if (event.kind == Kind::kAuction) {
      sellers.emplace(event.date_time / window_ms, event.numbers[4]);
    } else if (event.kind == Kind::kPerson) {
      persons.emplace_back(event);
    }
  });
  for (const PlainPerson& person : persons) {
    if (const std::int64_t window = person.time / window_ms; sellers.contains({window, person.id})) {
      emit(LineOf({person.id, person.name, window * window_ms}));
    }
  }
  return status;
}

absl::Status RecomputeQ9(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  Market market;
  absl::Status status = market.Read(flows);
  market.ForEachWinner(options, [&](const PlainAuction& auction, const PlainBid& bid) {
    emit(LineOf({auction.id, auction.item_name, auction.description, auction.initial_bid, auction.reserve, auction.time,
                 auction.expires, auction.seller, auction.category, auction.extra, bid.auction, bid.bidder, bid.price,
                 bid.time, bid.extra}));
  });
  return status;
}

absl::Status RecomputeQ20(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  Market market;
  absl::Status status = market.Read(flows);
  for (const auto& [id, auction] : market.auctions) {
    if (auction.category != 10) {
      continue;
    }
    for (const PlainBid& bid : market.bids[id]) {
      emit(LineOf({bid.auction, bid.bidder, bid.price, bid.channel, bid.url, bid.time, bid.extra, auction.item_name,
                   auction.description, auction.initial_bid, auction.reserve, auction.time, auction.expires,
                   auction.seller, auction.category, auction.extra}));
    }
  }
  return status;
}

}  // namespace glaive::queries::nexmark::suite
