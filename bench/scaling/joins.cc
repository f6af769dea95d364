#include "bench/scaling/joins.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bench/baseline/interval_join_loop.h"
#include "bench/scaling/record_blocks.h"
#include "engine/api/join.h"
#include "queries/common/generator.h"
#include "queries/loops/loop_totals.h"
#include "queries/nb11/bid_offer.h"
#include "queries/nb11/generator.h"
#include "queries/nb11/nb11_query.h"
#include "queries/nb11/session_join_loop.h"
#include "queries/nb8/join_loop.h"
#include "queries/nb8/nb8_query.h"
#include "queries/nexmark/auction_generator.h"
#include "queries/nexmark/seller_generator.h"

namespace glaive::bench {
namespace {

using queries::ResultSinks;
using queries::nexmark::Auction;
using queries::nexmark::AuctionTime;
using queries::nexmark::Bid;
using queries::nexmark::BidTime;
using queries::nexmark::Seller;
using queries::nexmark::SellerTime;

constexpr std::int64_t kNb8WindowMs = 43'200'000;
constexpr std::int64_t kNb11GapMs = 10'000;
constexpr std::int64_t kReachMs = 10'000;  // of the interval join
constexpr std::uint64_t kRightOf = 5;      // one record of so many is the right side's

/// Adds a number to the key by which a record is joined.
void MoveKey(Auction& auction, std::uint64_t by) { auction.seller += by; }
void MoveKey(Bid& bid, std::uint64_t by) { bid.bidder += by; }
void MoveKey(Seller& seller, std::uint64_t by) { seller.id += by; }

/// What another generator makes, but no two executors have records of one key. So two executors find as many pairs a
/// record as one, and as two loops that share nothing.
template <typename R>
class KeysByExecutor : public queries::Generator<R> {
 public:
  KeysByExecutor(const queries::Generator<R>& generator, std::uint64_t keys) : generator_(&generator), keys_(keys) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<R> records) const override {
    generator_->Fill(executor, first, records);
    for (R& record : records) {
      MoveKey(record, executor * keys_);
    }
  }

 private:
  const queries::Generator<R>* generator_;
  std::uint64_t keys_;
};

/// The records of one side.
template <typename Generator, typename Blocks>
absl::StatusOr<std::shared_ptr<const Blocks>> GenerateSide(const InputSize& size, std::uint64_t seed,
                                                           std::uint64_t records, std::int64_t span_ms,
                                                           std::int64_t align_ms) {
  auto input = InputOf(size, records, span_ms, align_ms);
  if (!input.ok()) {
    return input.status();
  }
  input->seed = seed;
  const Generator generator(*input);
  return Blocks::Generate(KeysByExecutor<typename Blocks::Record>(generator, size.keys), records, size.executors);
}

/// How many records of each side a loop reads, and which.
struct JoinedInput {
  std::uint64_t lefts;  // of a block
  std::uint64_t rights;
  std::uint64_t repetitions;  // of the blocks
  std::uint64_t keys;
};

/// What `make_loop` makes, over a block of each side with so many `keys`.
template <typename Lefts, typename Rights, typename MakeLoop>
absl::StatusOr<Loop> LoopOverBoth(const std::shared_ptr<const Lefts>& lefts,
                                  const std::shared_ptr<const Rights>& rights, std::uint32_t number,
                                  const MakeLoop& make_loop, const InputSize& size, std::uint64_t keys,
                                  std::int64_t span_ms) {
  auto made = make_loop(JoinedInput{.lefts = lefts->of(number).size(),
                                    .rights = rights->of(number).size(),
                                    .repetitions = size.repetitions,
                                    .keys = keys});
  if (!made.ok()) {
    return made.status();
  }
  const auto loop = std::make_shared<typename decltype(made)::value_type>(*std::move(made));
  return [=, repetitions = size.repetitions] {
    return queries::LoopTotals(*loop, lefts->of(number), rights->of(number),
                               {.repetitions = repetitions, .span_ms = span_ms});
  };
}

/// The workload of `build(lefts, rights, sinks)`. `make_loop(input)`, of a JoinedInput, makes a loop, or is kNoLoop.
template <typename LeftGenerator, typename Lefts, typename RightGenerator, typename Rights, typename Build,
          typename MakeLoop>
absl::StatusOr<Workload> MakeJoin(const InputSize& size, std::int64_t window_ms, const Build& build,
                                  const MakeLoop& make_loop) {
  constexpr std::uint64_t kMeanBytes =
      ((kRightOf - 1) * sizeof(typename Lefts::Record) + sizeof(typename Rights::Record)) / kRightOf;
  const std::uint64_t records = size.RecordsOf(kMeanBytes);
  if (records < kRightOf) {
    return absl::InvalidArgumentError("a join needs at least 5 records, of which 4 are the left side's");
  }
  const std::uint64_t right_records = records / kRightOf;
  const std::int64_t span_ms = static_cast<std::int64_t>(size.windows) * window_ms;
  const auto generated_lefts = GenerateSide<LeftGenerator, Lefts>(size, 1, records - right_records, span_ms, window_ms);
  const auto generated_rights = GenerateSide<RightGenerator, Rights>(size, 2, right_records, span_ms, window_ms);
  if (!generated_lefts.ok() || !generated_rights.ok()) {
    return generated_lefts.ok() ? generated_rights.status() : generated_lefts.status();
  }
  const std::shared_ptr<const Lefts> lefts = *generated_lefts;
  const std::shared_ptr<const Rights> rights = *generated_rights;
  Workload workload;
  workload.records = records * size.repetitions;
  workload.build_query = [=, repetitions = size.repetitions](const ResultSinks& sinks) {
    return build(lefts->Source(repetitions, span_ms), rights->Source(repetitions, span_ms), sinks);
  };
  if constexpr (!std::is_same_v<MakeLoop, std::nullptr_t>) {
    workload.make_loop = [=](std::uint32_t executor) {
      return LoopOverBoth(lefts, rights, executor, make_loop, size, size.keys, span_ms);
    };
    workload.make_sequential_loop = [=]() -> absl::StatusOr<Loop> {
      const auto all_lefts = lefts->Merge();
      const auto all_rights = rights->Merge();
      if (!all_lefts.ok() || !all_rights.ok()) {
        return all_lefts.ok() ? all_rights.status() : all_lefts.status();
      }
      return LoopOverBoth(*all_lefts, *all_rights, 0, make_loop, size, size.keys * size.executors, span_ms);
    };
  }
  return workload;
}

}  // namespace

absl::StatusOr<Workload> MakeNb8(const InputSize& size) {
  const auto build = [](const auto& auctions, const auto& sellers, const ResultSinks& sinks) {
    return queries::nb8::BuildNb8({.window = absl::Milliseconds(kNb8WindowMs)}, auctions, sellers, sinks);
  };
  const auto make_loop = [](const JoinedInput& input) -> absl::StatusOr<queries::nb8::JoinLoop> {
    return queries::nb8::JoinLoop({.window_ms = kNb8WindowMs, .auctions = input.lefts, .sellers = input.rights});
  };
  return MakeJoin<queries::nexmark::AuctionGenerator, RecordBlocks<Auction, AuctionTime>,
                  queries::nexmark::SellerGenerator, RecordBlocks<Seller, SellerTime>>(size, kNb8WindowMs, build,
                                                                                       make_loop);
}

absl::StatusOr<Workload> MakeNb11(const InputSize& size) {
  const auto build = [](const auto& bids, const auto& sellers, const ResultSinks& sinks) {
    return queries::nb11::BuildNb11(bids, sellers, absl::Milliseconds(kNb11GapMs), absl::ZeroDuration(), sinks);
  };
  return MakeJoin<queries::nb11::BidGenerator, RecordBlocks<Bid, BidTime>, queries::nexmark::SellerGenerator,
                  RecordBlocks<Seller, SellerTime>>(size, kNb11GapMs, build, [](const JoinedInput& input) {
    return queries::nb11::SessionJoinLoop::Create({.gap_ms = kNb11GapMs,
                                                   .keys = input.keys,
                                                   .bids = input.lefts * input.repetitions,
                                                   .sellers = input.rights * input.repetitions});
  });
}

absl::StatusOr<Workload> MakeIntervalJoin(const InputSize& size) {
  const auto build = [](const auto& bids, const auto& sellers, const ResultSinks& sinks) {
    return engine::Join(engine::From(bids), engine::From(sellers))
        .On([](const Bid& bid) { return bid.bidder; }, [](const Seller& seller) { return seller.id; })
        .Within(-absl::Milliseconds(kReachMs), absl::Milliseconds(kReachMs))
        .Keep([](const Bid& bid) { return queries::nb11::BidOffer{.auction = bid.auction, .price = bid.price}; },
              [](const Seller& seller) { return seller.event_time_ms; })
        .To(sinks);
  };
  const auto make_loop = [](const JoinedInput& input) -> absl::StatusOr<IntervalJoinLoop> {
    return IntervalJoinLoop({.reach_ms = kReachMs, .bids = input.lefts, .sellers = input.rights});
  };
  return MakeJoin<queries::nb11::BidGenerator, RecordBlocks<Bid, BidTime>, queries::nexmark::SellerGenerator,
                  RecordBlocks<Seller, SellerTime>>(size, 2 * kReachMs, build, make_loop);
}

}  // namespace glaive::bench
