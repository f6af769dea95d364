#include "engine/cluster/main.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/strings/str_cat.h"

#include "engine/files/file_claims.h"
#include "queries/common/generated_program.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "queries/ysb_star/click_ratio_fold.h"
#include "queries/ysb_star/ysb_star_query.h"

namespace glaive::queries::ysb_star {
namespace {

using ysb::EventType;
using ysb::YsbEvent;

constexpr const char* kExportAdsFlag = "export-ads";

/// Clicks for a view; none without both.
struct ClickRatio {
  void Add(const YsbEvent& event) { (event.event_type == EventType::kClick ? clicks : views) += 1; }
  std::optional<double> value() const { return clicks > 0 && views > 0 ? std::optional(clicks / views) : std::nullopt; }

  double clicks = 0;
  double views = 0;
};

class YsbStarProgram final : public GeneratedProgram<YsbEvent, ysb::YsbEventTime> {
 public:
  std::string name() const override { return "ysb_star"; }
  std::string summary() const override {
    return "AIR's YSB*: clicks for a view of each of 100 campaigns in each window of 10 s, over the Yahoo benchmark's "
           "events.";
  }
  bool has_loop() const override { return true; }

 protected:
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override {
    AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window"}, window_);
    flags.AddString({.name = kExportAdsFlag,
                     .group = group,
                     .help = "writes the static table of ads and campaigns to a CSV file before the run",
                     .file = engine::FileUse::kWrite},
                    export_ads_, "FILE");
  }
  Shape shape() const override { return {.window_ms = absl::ToInt64Milliseconds(window_)}; }
  std::unique_ptr<Generator<YsbEvent>> MakeGenerator(const InputOptions& input) const override {
    return std::make_unique<ysb::YsbGenerator>(ysb::Profile::kYahoo, input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Events& events, const ResultSinks& sinks) const override {
    return BuildYsbStar(events, window_, allowed_lateness(), sinks);
  }
  std::unique_ptr<engine::Query> BuildLoop(const Events& events, std::uint64_t /*keys*/,
                                           const ResultSinks& sinks) const override {
    using Loop = WindowLoop<ClickRatioFold>;
    const ClickRatioFold fold{std::make_shared<const ysb::CampaignTable>()};
    const WindowLoopOptions options{.window_ms = shape().window_ms, .keys = ysb::kCampaigns};
    return LoopQueryOver(events, Loop::MemoryBytes(options.keys), [=] { return Loop::Create(fold, options); }, sinks);
  }
  Verdict Recompute(const Recomputation<YsbEvent>& run) const override {
    std::unordered_map<std::uint64_t, std::uint64_t> campaigns;  // by ad id
    for (const ysb::Ad& ad : ysb::AllAds()) {
      campaigns.emplace(ad.id, ad.campaign);
    }
    return run.As<ClickRatio>([&](const YsbEvent& event) {
      return event.event_type == EventType::kPurchase ? std::nullopt
                                                      : std::optional(campaigns.at(std::uint64_t{event.ad_id}));
    });
  }
  std::string column_names() const override { return "ad_id,event_type"; }
  void AppendColumns(std::string& line, const YsbEvent& event) const override {
    const std::uint64_t ad_id = event.ad_id;
    absl::StrAppend(&line, ad_id, ",", static_cast<int>(event.event_type));
  }
  absl::Status ExportTables(engine::FileClaims& claims) const override {
    engine::WholeFile* const file = claims.FileOf(kExportAdsFlag);
    return file == nullptr ? absl::OkStatus() : file->WriteAndCommit(ysb::AdsAsCsv());
  }

 private:
  absl::Duration window_ = absl::Milliseconds(ysb::kYahooWindowMs);
  std::string export_ads_;  // CSV file, or empty
};

}  // namespace
}  // namespace glaive::queries::ysb_star

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::ysb_star::YsbStarProgram>(argc, argv); }
