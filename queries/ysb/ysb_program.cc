#include "queries/ysb/ysb_program.h"

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "absl/strings/str_cat.h"

#include "queries/ysb/ysb_json.h"

namespace glaive::queries::ysb {

std::string YsbProgram::summary() const {
  return "The Yahoo Streaming Benchmark: views per key and event-time window, over generated events of 78 bytes.\n"
         "  --profile=slash: 10 M uniform keys, windows of 10 min   --profile=yahoo: 1000 ads of 100 campaigns, 10 s";
}

void YsbProgram::RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) {
  flags.AddChoice({.name = "profile", .group = group, .help = "which variant of the benchmark"}, profile_,
                  {{"slash", Profile::kSlash}, {"yahoo", Profile::kYahoo}});
  AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window; 0: the profile's"}, window_,
                /*least=*/absl::ZeroDuration());
  flags.AddString({.name = "export-ads",
                   .group = group,
                   .help = "writes the yahoo profile's static table of ads and campaigns to a CSV file before the run"},
                  export_ads_, "FILE");
  flags.AddCheck([this] {
    return profile_ == Profile::kYahoo && reads_files()
               ? absl::InvalidArgumentError(
                     "--profile=yahoo joins the generated events' ads, which files don't have; "
                     "with --input use --profile=slash, which counts by ad")
               : absl::OkStatus();
  });
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
  return BuildYsb(
      {.profile = profile_, .window = absl::Milliseconds(shape().window_ms), .allowed_lateness = allowed_lateness()},
      events, sinks);
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
      return event.ad_id;
    }
    const auto campaign = campaigns.find(event.ad_id);
    return campaign == campaigns.end() ? std::nullopt : std::optional(campaign->second);
  });
}

void YsbProgram::AppendColumns(std::string& line, const YsbEvent& event) const {
  const std::uint64_t ad_id = event.ad_id;
  absl::StrAppend(&line, ad_id, ",", static_cast<int>(event.event_type));
}

absl::Status YsbProgram::ExportTables() const {
  if (export_ads_.empty()) {
    return absl::OkStatus();
  }
  std::string text = "ad_id,campaign\n";
  for (const Ad& ad : AllAds()) {
    absl::StrAppend(&text, ad.id, ",", ad.campaign, "\n");
  }
  return engine::WriteWholeFile(export_ads_, text);
}

YsbProgram::Events YsbProgram::ReadFiles(const std::vector<std::string>& files,
                                         const engine::LineSourceOptions& options) const {
  return engine::Lines<YsbEvent>(files, ParseYsbJson{}, YsbEventTime{}, options);
}

}  // namespace glaive::queries::ysb
