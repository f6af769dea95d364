#include "queries/nb8/nb8_program.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

#include "queries/loops/loop_query.h"
#include "queries/nb8/join_loop.h"
#include "queries/nexmark/auction_generator.h"
#include "queries/nexmark/seller_generator.h"

namespace glaive::queries::nb8 {

using nexmark::Auction;
using nexmark::Seller;

std::string Nb8Program::summary() const {
  return "NEXMark's auctions of 269 bytes joined with their sellers of 206 bytes, in windows of event time.\n"
         "  Of 5 records 4 are auctions and 1 is a seller's registration.\n"
         "  --profile=slash: 12 h, as NEXMark's authors and Slash have it   --profile=beam: 10 s, as Apache Beam's "
         "suite";
}

void Nb8Program::SetDefaults(InputFlags& input) const {
  input.records = 2'000'000;
  input.keys = 100'000;
}

void Nb8Program::RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) {
  flags.AddChoice({.name = "profile", .group = group, .help = "whose windows"}, profile_,
                  {{"slash", Profile::kSlash}, {"beam", Profile::kBeam}});
  flags.AddChoice(
      {.name = "join",
       .group = group,
       .help = "inner: auctions with their sellers; left: and auctions without one in the window; full: and "
               "sellers without auctions"},
      options_.join, {{"inner", JoinKind::kInner}, {"left", JoinKind::kLeft}, {"full", JoinKind::kFull}});
  flags.AddChoice({.name = "windows", .group = group, .help = "their kind"}, options_.windows,
                  {{"tumbling", WindowKind::kTumbling}, {"sliding", WindowKind::kSliding}});
  AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window; 0: the profile's"},
                options_.window, /*least=*/absl::ZeroDuration());
  AddWindowFlag(
      flags,
      {.name = "slide", .group = group, .help = "time between two sliding windows' starts; 0: a half of --window"},
      options_.slide, /*least=*/absl::ZeroDuration());
  flags.AddCheck([this, &flags] { return CheckWindows(flags); });
}

absl::Status Nb8Program::CheckWindows(const engine::FlagSet& flags) const {
  if (options_.windows != WindowKind::kSliding) {
    return flags.WasGiven("slide") ? absl::InvalidArgumentError("--slide goes with --windows=sliding alone")
                                   : absl::OkStatus();
  }
  return CheckSliding(window(), slide());
}

absl::Duration Nb8Program::window() const {
  if (options_.window != absl::ZeroDuration()) {
    return options_.window;
  }
  return profile_ == Profile::kSlash ? absl::Hours(12) : absl::Seconds(10);
}

absl::Duration Nb8Program::slide() const {
  return options_.slide != absl::ZeroDuration() ? options_.slide : absl::Floor(window() / 2, absl::Milliseconds(1));
}

Nb8Program::Shape Nb8Program::shape() const {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(window());
  const bool sliding = options_.windows == WindowKind::kSliding;
  return {.windows = {.size_ms = window_ms, .slide_ms = sliding ? absl::ToInt64Milliseconds(slide()) : window_ms},
          .kind = options_.join};
}

std::unique_ptr<Generator<Auction>> Nb8Program::MakeLeft(const InputOptions& input) const {
  return std::make_unique<nexmark::AuctionGenerator>(input);
}

std::unique_ptr<Generator<Seller>> Nb8Program::MakeRight(const InputOptions& input) const {
  return std::make_unique<nexmark::SellerGenerator>(input);
}

std::unique_ptr<engine::Query> Nb8Program::BuildQuery(const Lefts& auctions, const Rights& sellers,
                                                      const ResultSinks& sinks) const {
  Nb8Options options = options_;
  options.window = window();
  options.slide = slide();
  options.allowed_lateness = allowed_lateness();
  return BuildNb8(options, auctions, sellers, sinks);
}

absl::Status Nb8Program::CheckLoop(const InputFlags& /*input*/) const {
  return options_.windows == WindowKind::kTumbling && options_.join == JoinKind::kInner
             ? absl::OkStatus()
             : absl::InvalidArgumentError("--engine=loop goes with --windows=tumbling and --join=inner");
}

std::unique_ptr<engine::Query> Nb8Program::BuildLoop(const Lefts& auctions, const Rights& sellers,
                                                     const InputSides& sides, const ResultSinks& sinks) const {
  // A block has whole windows, so no window has more records than a block.
  const JoinLoopOptions options{
      .window_ms = shape().windows.size_ms, .auctions = sides.left.flags.records, .sellers = sides.right.flags.records};
  return LoopQueryOver(
      auctions, sellers, JoinLoop::MemoryBytes(options), [=] { return absl::StatusOr<JoinLoop>(JoinLoop(options)); },
      sinks);
}

Verdict Nb8Program::Recompute(const JoinRecomputation<Auction, Seller>& run) const {
  return run.As([](const Auction& auction) { return auction.seller; },
                [](const Auction& auction) { return auction.id; }, [](const Seller& seller) { return seller.id; },
                [](const Seller& seller) { return seller.event_time_ms; });
}

void Nb8Program::AppendLeftColumns(std::string& line, const Auction& auction) const {
  const std::uint64_t id = auction.id;
  const std::uint64_t seller = auction.seller;
  absl::StrAppend(&line, id, ",", seller);
}

void Nb8Program::AppendRightColumns(std::string& line, const Seller& seller) const {
  const std::uint64_t id = seller.id;
  absl::StrAppend(&line, id);
}

}  // namespace glaive::queries::nb8
