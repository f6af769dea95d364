// Nb8Program: the flags of the `nb8` binary, the run they describe, and its check.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "queries/common/two_input_program.h"
#include "queries/nb8/nb8_query.h"

namespace glaive::queries::nb8 {

class Nb8Program final
    : public TwoInputProgram<nexmark::Auction, nexmark::AuctionTime, nexmark::Seller, nexmark::SellerTime> {
 public:
  std::string name() const override { return "nb8"; }
  std::string summary() const override;
  bool has_loop() const override { return true; }

 protected:
  void SetDefaults(InputFlags& input) const override;
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override;
  Shape shape() const override;
  std::string left_name() const override { return "auctions"; }
  std::string right_name() const override { return "sellers"; }
  std::unique_ptr<Generator<nexmark::Auction>> MakeLeft(const InputOptions& input) const override;
  std::unique_ptr<Generator<nexmark::Seller>> MakeRight(const InputOptions& input) const override;
  std::unique_ptr<engine::Query> BuildQuery(const Lefts& auctions, const Rights& sellers,
                                            const ResultSinks& sinks) const override;
  absl::Status CheckLoop(const InputFlags& input) const override;
  std::unique_ptr<engine::Query> BuildLoop(const Lefts& auctions, const Rights& sellers, const InputSides& sides,
                                           const ResultSinks& sinks) const override;
  Verdict Recompute(const JoinRecomputation<nexmark::Auction, nexmark::Seller>& run) const override;
  std::string left_column_names() const override { return "auction,seller"; }
  void AppendLeftColumns(std::string& line, const nexmark::Auction& auction) const override;
  std::string right_column_names() const override { return "seller"; }
  void AppendRightColumns(std::string& line, const nexmark::Seller& seller) const override;

 private:
  /// Whose windows: Slash's of 12 h (paper section 8.1.2), or those of 10 s of Apache Beam's NEXMark suite.
  enum class Profile : std::uint8_t { kSlash, kBeam };

  absl::Status CheckWindows(const engine::FlagSet& flags) const;

  absl::Duration window() const;
  absl::Duration slide() const;

  Profile profile_ = Profile::kSlash;
  // As the flags have them, where 0 is a default of window() and slide(); the lateness is not among them.
  Nb8Options options_ = {.window = absl::ZeroDuration(), .slide = absl::ZeroDuration()};
};

}  // namespace glaive::queries::nb8
