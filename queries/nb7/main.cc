#include "engine/cluster/main.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "queries/common/generated_program.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/nb7/bid_fold.h"
#include "queries/nb7/generator.h"
#include "queries/nb7/nb7_query.h"

namespace glaive::queries::nb7 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;

struct HighestPrice {
  void Add(const Bid& bid) { price = std::max(price, bid.price); }
  std::uint64_t value() const { return price; }

  std::uint64_t price = 0;
};

class Nb7Program final : public GeneratedProgram<Bid, BidTime> {
 public:
  std::string name() const override { return "nb7"; }
  std::string summary() const override {
    return "NEXMark's bids of 32 bytes: the highest price of each auction in each minute of event time.";
  }
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override { input.key_distribution = "pareto:1.16"; }
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override {
    AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window"}, window_);
  }
  Shape shape() const override { return {.window_ms = absl::ToInt64Milliseconds(window_)}; }
  std::unique_ptr<Generator<Bid>> MakeGenerator(const InputOptions& input) const override {
    return std::make_unique<BidGenerator>(input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Events& bids, const ResultSinks& sinks) const override {
    return BuildNb7(bids, window_, allowed_lateness(), sinks);
  }
  std::unique_ptr<engine::Query> BuildLoop(const Events& bids, std::uint64_t keys,
                                           const ResultSinks& sinks) const override {
    using Loop = WindowLoop<BidFold>;
    const WindowLoopOptions options{.window_ms = shape().window_ms, .keys = keys};
    return LoopQueryOver(bids, Loop::MemoryBytes(keys), [=] { return Loop::Create({}, options); }, sinks);
  }
  Verdict Recompute(const Recomputation<Bid>& run) const override {
    return run.As<HighestPrice>([](const Bid& bid) { return std::optional(bid.auction); });
  }
  std::string column_names() const override { return "auction,bidder,price"; }
  void AppendColumns(std::string& line, const Bid& bid) const override {
    absl::StrAppend(&line, bid.auction, ",", bid.bidder, ",", bid.price);
  }

 private:
  absl::Duration window_ = absl::Minutes(1);
};

}  // namespace
}  // namespace glaive::queries::nb7

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::nb7::Nb7Program>(argc, argv); }
