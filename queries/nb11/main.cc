#include "engine/cluster/main.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

#include "queries/common/two_input_program.h"
#include "queries/loops/loop_query.h"
#include "queries/nb11/bid_offer.h"
#include "queries/nb11/generator.h"
#include "queries/nb11/nb11_query.h"
#include "queries/nb11/session_join_loop.h"
#include "queries/nexmark/seller_generator.h"

namespace glaive::queries::nb11 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;
using nexmark::Seller;
using nexmark::SellerTime;

class Nb11Program final : public TwoInputProgram<Bid, BidTime, Seller, SellerTime> {
 public:
  std::string name() const override { return "nb11"; }
  std::string summary() const override {
    return "NEXMark's bids of 32 bytes joined with the registrations of their bidders, sellers of 206 bytes, that lie "
           "in\n"
           "  the same session. Of 5 records 4 are bids and 1 is a seller's registration.";
  }
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override { input.records = 5'000'000; }
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override {
    AddWindowFlag(flags,
                  {.name = "gap", .group = group, .help = "a session ends so long after the last bid or seller of it"},
                  gap_);
  }
  Shape shape() const override {
    return {
        .windows = {.size_ms = absl::ToInt64Milliseconds(gap_), .slide_ms = 0, .kind = CheckedWindows::Kind::kSession}};
  }
  std::string left_name() const override { return "bids"; }
  std::string right_name() const override { return "sellers"; }
  std::unique_ptr<Generator<Bid>> MakeLeft(const InputOptions& input) const override {
    return std::make_unique<BidGenerator>(input);
  }
  std::unique_ptr<Generator<Seller>> MakeRight(const InputOptions& input) const override {
    return std::make_unique<nexmark::SellerGenerator>(input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Lefts& bids, const Rights& sellers,
                                            const ResultSinks& sinks) const override {
    return BuildNb11(bids, sellers, gap_, allowed_lateness(), sinks);
  }
  absl::Status CheckLoop(const InputFlags& input) const override {
    return input.seconds == absl::ZeroDuration()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     "--engine=loop stores all records of the run: leave out --seconds, and give --records");
  }
  std::unique_ptr<engine::Query> BuildLoop(const Lefts& bids, const Rights& sellers, const InputSides& sides,
                                           const ResultSinks& sinks) const override {
    const std::uint64_t bid_count = sides.left.flags.records;
    const std::uint64_t seller_count = sides.right.flags.records;
    const SessionJoinLoopOptions options{.gap_ms = absl::ToInt64Milliseconds(gap_),
                                         .keys = std::min(sides.left.flags.keys, bid_count + seller_count),
                                         .bids = bid_count,
                                         .sellers = seller_count};
    return LoopQueryOver(
        bids, sellers, SessionJoinLoop::MemoryBytes(options), [=] { return SessionJoinLoop::Create(options); }, sinks);
  }
  Verdict Recompute(const JoinRecomputation<Bid, Seller>& run) const override {
    return run.As([](const Bid& bid) { return bid.bidder; },
                  [](const Bid& bid) { return BidOffer{.auction = bid.auction, .price = bid.price}; },
                  [](const Seller& seller) { return seller.id; },
                  [](const Seller& seller) { return seller.event_time_ms; });
  }
  std::string left_column_names() const override { return "auction,bidder,price"; }
  void AppendLeftColumns(std::string& line, const Bid& bid) const override {
    absl::StrAppend(&line, bid.auction, ",", bid.bidder, ",", bid.price);
  }
  std::string right_column_names() const override { return "seller"; }
  void AppendRightColumns(std::string& line, const Seller& seller) const override {
    const std::uint64_t id = seller.id;
    absl::StrAppend(&line, id);
  }

 private:
  absl::Duration gap_ = absl::Seconds(10);
};

}  // namespace
}  // namespace glaive::queries::nb11

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::nb11::Nb11Program>(argc, argv); }
