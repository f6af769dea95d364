#include "queries/ysb/ysb_program.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include <xxhash.h>

#include "engine/files/file_claims.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/ysb/ad_file.h"
#include "queries/ysb/ysb_fold.h"
#include "queries/ysb/ysb_json.h"

namespace glaive::queries::ysb {
namespace {

constexpr const char* kExportAdsFlag = "export-ads";

}  // namespace

std::string YsbProgram::summary() const {
  return "The Yahoo Streaming Benchmark: views per key and event-time window, over events of 78 bytes.\n"
         "  --profile=slash: 10 M uniform keys, windows of 10 min   --profile=yahoo: 1000 ads of 100 campaigns, 10 s";
}

void YsbProgram::RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) {
  flags.AddChoice({.name = "profile", .group = group, .help = "which variant of the benchmark"}, profile_,
                  {{"slash", Profile::kSlash}, {"yahoo", Profile::kYahoo}});
  AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window; 0: the profile's"}, window_,
                /*least=*/absl::ZeroDuration());
  flags.AddString({.name = kExportAdsFlag,
                   .group = group,
                   .help = "writes the yahoo profile's static table of ads and campaigns to a CSV file before the run",
                   .file = engine::FileUse::kWrite},
                  export_ads_, "FILE");
  flags.AddString(
      {.name = "ads",
       .group = group,
       .help = "with --profile=yahoo --input: the campaigns of the files' ads, as Yahoo's generator writes them "
               "to ad-to-campaign-ids.txt; each node reads the file, which has to be the same everywhere",
       .file = engine::FileUse::kRead},
      ads_, "FILE");
  flags.AddCheck([this] { return CheckAds(); });
}

absl::Status YsbProgram::CheckAds() const {
  const bool needs_ads = profile_ == Profile::kYahoo && reads_files();
  if (needs_ads && ads_.empty()) {
    return absl::InvalidArgumentError(
        "--profile=yahoo joins ads to campaigns, and those of files are not known: give them with "
        "--ads=ad-to-campaign-ids.txt, or use --profile=slash, which counts by ad");
  }
  if (!needs_ads && !ads_.empty()) {
    return absl::InvalidArgumentError(
        "--ads goes with --profile=yahoo --input=...: the slash profile counts by ad, and generated events have ads of "
        "their own");
  }
  if (reads_files() && !export_ads_.empty()) {
    return absl::InvalidArgumentError(
        "--export-ads writes the ads of generated events, so it does not go with --input");
  }
  return absl::OkStatus();
}

absl::Status YsbProgram::LoadTables(const Watch& watch) {
  if (ads_.empty()) {
    return absl::OkStatus();
  }
  // The watch's own status says why the run ends, which is not the flag's fault.
  const auto fault_of = [&watch](const absl::Status& status) {
    const absl::Status ended = watch();
    return ended.ok() ? absl::Status(status.code(), absl::StrCat("--ads: ", status.message())) : ended;
  };
  const absl::StatusOr<std::vector<Ad>> ads = ReadAds(ads_, watch);
  if (!ads.ok()) return fault_of(ads.status());
  static_assert(std::has_unique_object_representations_v<Ad>);
  const std::uint64_t checksum = XXH3_64bits(ads->data(), ads->size() * sizeof(Ad));
  ads_content_ = absl::StrCat(ads->size(), " ads with the checksum ", absl::Hex(checksum, absl::kZeroPad16));
  absl::StatusOr<CampaignTable> table = CampaignTable::Of(*ads, watch);
  if (!table.ok()) return fault_of(table.status());
  campaigns_ = std::make_shared<const CampaignTable>(*std::move(table));
  return absl::OkStatus();
}

std::vector<engine::ComparedInput> YsbProgram::inputs() const {
  return ads_.empty() ? std::vector<engine::ComparedInput>() : std::vector<engine::ComparedInput>{{ads_, ads_content_}};
}

YsbProgram::Shape YsbProgram::shape() const {
  const std::int64_t profile_ms = profile_ == Profile::kSlash ? kSlashWindowMs : kYahooWindowMs;
  // One event in three is a view; half of them is a generous limit.
  return {.window_ms = window_ == absl::ZeroDuration() ? profile_ms : absl::ToInt64Milliseconds(window_),
          .rows_a_record = 0.5};
}

std::unique_ptr<Generator<YsbEvent>> YsbProgram::MakeGenerator(const InputOptions& input) const {
  return std::make_unique<YsbGenerator>(profile_, input);
}

std::unique_ptr<engine::Query> YsbProgram::BuildQuery(const Events& events, const ResultSinks& sinks) const {
  return BuildYsb({.profile = profile_,
                   .window = absl::Milliseconds(shape().window_ms),
                   .allowed_lateness = allowed_lateness(),
                   .campaigns = campaigns_},
                  events, sinks);
}

std::unique_ptr<engine::Query> YsbProgram::BuildLoop(const Events& events, std::uint64_t keys,
                                                     const ResultSinks& sinks) const {
  using Loop = WindowLoop<YsbFold>;
  const bool by_campaign = profile_ == Profile::kYahoo;
  const YsbFold fold{by_campaign ? std::make_shared<const CampaignTable>() : nullptr};
  const WindowLoopOptions options{.window_ms = shape().window_ms, .keys = by_campaign ? kCampaigns : keys};
  return LoopQueryOver(events, Loop::MemoryBytes(options.keys), [=] { return Loop::Create(fold, options); }, sinks);
}

Verdict YsbProgram::Recompute(const Recomputation<YsbEvent>& run) const {
  std::unordered_map<std::uint64_t, std::uint64_t> campaigns;  // by ad id
  if (profile_ == Profile::kYahoo) {
    for (const Ad& ad : AllAds()) {
      campaigns.emplace(ad.id, ad.campaign);
    }
  }
  return run.As<CountAccount<YsbEvent>>([&](const YsbEvent& event) -> std::optional<std::uint64_t> {
    if (event.event_type != EventType::kView) {
      return std::nullopt;
    }
    if (profile_ == Profile::kSlash) {
      return std::uint64_t{event.ad_id};
    }
    const auto campaign = campaigns.find(std::uint64_t{event.ad_id});
    return campaign == campaigns.end() ? std::nullopt : std::optional(campaign->second);
  });
}

void YsbProgram::AppendColumns(std::string& line, const YsbEvent& event) const {
  const std::uint64_t ad_id = event.ad_id;
  absl::StrAppend(&line, ad_id, ",", static_cast<int>(event.event_type));
}

absl::Status YsbProgram::ExportTables(engine::FileClaims& claims) const {
  engine::WholeFile* const file = claims.FileOf(kExportAdsFlag);
  return file == nullptr ? absl::OkStatus() : file->WriteAndCommit(AdsAsCsv());
}

YsbProgram::Events YsbProgram::ReadFiles(const std::vector<engine::ListedFile>& files,
                                         const engine::LineSourceOptions& options) const {
  return engine::Lines<YsbEvent>(files, ParseYsbJson{}, YsbEventTime{}, options);
}

}  // namespace glaive::queries::ysb
