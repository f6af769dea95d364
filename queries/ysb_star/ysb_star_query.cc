#include "queries/ysb_star/ysb_star_query.h"

#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/api/join.h"
#include "queries/ysb/campaigns.h"

namespace glaive::queries::ysb_star {
namespace {

using ysb::EventType;
using ysb::YsbEvent;

/// What is left of an event: what it is counted by.
struct OfCampaign {
  std::uint64_t campaign;
};

using Campaigns = engine::StaticTable<std::uint64_t, std::uint64_t>;  // by ad id

using CountRow = engine::WindowResult<std::uint64_t, std::uint64_t>;
using CountsRow = engine::WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;
using RatioRow = engine::WindowResult<std::uint64_t, double>;

std::shared_ptr<const Campaigns> AllCampaigns() {
  std::unordered_map<std::uint64_t, std::uint64_t> campaigns;
  for (const ysb::Ad& ad : ysb::AllAds()) {
    campaigns.emplace(ad.id, ad.campaign);
  }
  return std::make_shared<const Campaigns>(campaigns);
}

RatioRow RatioOf(const CountsRow& counts) {
  const auto [clicks, views] = counts.value;
  return {.window_start_ms = counts.window_start_ms,
          .window_end_ms = counts.window_end_ms,
          .key = counts.key,
          .value = static_cast<double>(clicks) / static_cast<double>(views)};
}

}  // namespace

std::unique_ptr<engine::Query> BuildYsbStar(const engine::SourceSpec<YsbEvent, ysb::YsbEventTime>& events,
                                            absl::Duration window, absl::Duration allowed_lateness,
                                            const ResultSinks& sinks) {
  const std::shared_ptr<const Campaigns> campaigns = AllCampaigns();
  const auto count = [&](auto some_events) {
    return std::move(some_events)
        .JoinTable(
            campaigns, [](const YsbEvent& event) { return event.ad_id; },
            [](const YsbEvent& /*event*/, std::uint64_t campaign) { return OfCampaign{campaign}; })
        .KeyBy(&OfCampaign::campaign)
        .Window(engine::Tumbling{window})
        .AllowedLateness(allowed_lateness)
        .Aggregate(engine::Count{});
  };
  auto [clicks, views] =
      engine::From(events).Split([](const YsbEvent& event) { return event.event_type == EventType::kClick; },
                                 [](const YsbEvent& event) { return event.event_type == EventType::kView; });
  return engine::Join(count(std::move(clicks)), count(std::move(views)))
      .On(&CountRow::key, &CountRow::key)
      .Window(engine::Tumbling{window})
      .Keep(&CountRow::value, &CountRow::value)
      .Map(RatioOf)
      .To(sinks);
}

}  // namespace glaive::queries::ysb_star
