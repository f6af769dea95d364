// The Yahoo Streaming Benchmark as a Glaive query: how many views each key has in each tumbling window.
//
//   slash  SELECT ad_id, COUNT(*) FROM events WHERE event_type = 'view' GROUP BY ad_id, TUMBLE(event_time, 10 min)
//   yahoo  SELECT campaign, COUNT(*) FROM events JOIN ads USING (ad_id) WHERE event_type = 'view'
//          GROUP BY campaign, TUMBLE(event_time, 10 s)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

struct YsbOptions {
  Profile profile = Profile::kSlash;
  absl::Duration window = absl::Milliseconds(kSlashWindowMs);
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// Where an event keeps its time, for sources.
struct YsbEventTime {
  std::int64_t operator()(const YsbEvent& event) const { return event.event_time_ms; }
};

/// An event that survived the filter, projected to what it is counted by.
struct View {
  std::uint64_t key;
};

/// Counts views by ad (slash) or campaign (yahoo): rows of {window, key, count}.
template <typename Events, typename Sink>
std::unique_ptr<engine::Query> BuildYsb(const YsbOptions& options, const Events& events, const Sink& sink) {
  const auto is_view = [](const YsbEvent& event) { return event.event_type == EventType::kView; };
  const auto count = [&](auto views) {
    return std::move(views)
        .KeyBy(&View::key)
        .Window(engine::Tumbling{options.window})
        .AllowedLateness(options.allowed_lateness)
        .Aggregate(engine::Count{})
        .To(sink);
  };
  if (options.profile == Profile::kSlash) {
    return count(engine::From(events).Filter(is_view).Map([](const YsbEvent& event) { return View{event.ad_id}; }));
  }
  const auto campaigns = std::make_shared<const CampaignTable>();
  return count(
      engine::From(events).Filter(is_view).FilterMap([campaigns](const YsbEvent& event) -> std::optional<View> {
        const std::uint64_t campaign = campaigns->Find(event.ad_id);
        return campaign == 0 ? std::nullopt : std::optional<View>(View{campaign});
      }));
}

}  // namespace glaive::queries::ysb
