#include "queries/ysb/ysb_query.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/api/stream.h"

namespace glaive::queries::ysb {
namespace {

/// An event that survived the filter, projected to what it is counted by.
struct View {
  std::uint64_t key;
};

}  // namespace

std::unique_ptr<engine::Query> BuildYsb(const YsbOptions& options,
                                        const engine::SourceSpec<YsbEvent, YsbEventTime>& events,
                                        const ResultSinks& sinks) {
  const auto is_view = [](const YsbEvent& event) { return event.event_type == EventType::kView; };
  const auto count = [&](auto views) {
    return std::move(views)
        .KeyBy(&View::key)
        .Window(engine::Tumbling{options.window})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(engine::Count{})
        .To(sinks);
  };
  if (options.profile == Profile::kSlash) {
    return count(engine::From(events).Filter(is_view).Map([](const YsbEvent& event) { return View{event.ad_id}; }));
  }
  const auto campaigns = options.campaigns != nullptr ? options.campaigns : std::make_shared<const CampaignTable>();
  return count(
      engine::From(events).Filter(is_view).FilterMap([campaigns](const YsbEvent& event) -> std::optional<View> {
        const std::uint64_t campaign = campaigns->Find(event.ad_id);
        return campaign == 0 ? std::nullopt : std::optional<View>(View{campaign});
      }));
}

}  // namespace glaive::queries::ysb
