#include "queries/ysb/ysb_query.h"

#include <optional>
#include <span>

#include "absl/time/time.h"

#include "engine/api/stream.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {
namespace {

/// An event that survived the filter, projected to what it is counted by.
struct View {
  std::uint64_t key;
};

auto GeneratedEvents(const GeneratorOptions& options, const engine::BlockSourceOptions& block) {
  const auto event_time_ms = [](const YsbEvent& event) { return event.event_time_ms; };
  const auto open = [options, block, event_time_ms](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<YsbEvent> events) {
      Generator(options).Fill(Value(context.executor), first, events);
    };
    return engine::BlockSource<YsbEvent, decltype(event_time_ms)>::Create(block, *context.clock, generate,
                                                                          event_time_ms);
  };
  return engine::SourceSpec<YsbEvent, decltype(event_time_ms)>{
      .open = open, .event_time_ms = event_time_ms, .memory_bytes = block.block_records * sizeof(YsbEvent)};
}

bool IsView(const YsbEvent& event) { return event.event_type == EventType::kView; }

std::unique_ptr<engine::Query> BuildSlash(const GeneratorOptions& generator, const engine::BlockSourceOptions& block,
                                          const engine::AllOf<YsbRow>& sink) {
  return engine::From(GeneratedEvents(generator, block))
      .Filter([](const YsbEvent& event) { return IsView(event); })
      .Map([](const YsbEvent& event) { return View{event.ad_id}; })
      .KeyBy(&View::key)
      .Window(engine::Tumbling{absl::Milliseconds(generator.window_ms)})
      .Aggregate(engine::Count{})
      .To(sink);
}

std::unique_ptr<engine::Query> BuildYahoo(const GeneratorOptions& generator, const engine::BlockSourceOptions& block,
                                          const engine::AllOf<YsbRow>& sink) {
  const auto campaigns = std::make_shared<const CampaignTable>();
  return engine::From(GeneratedEvents(generator, block))
      .Filter([](const YsbEvent& event) { return IsView(event); })
      .FilterMap([campaigns](const YsbEvent& event) -> std::optional<View> {
        const std::uint64_t campaign = campaigns->Find(event.ad_id);
        return campaign == 0 ? std::nullopt : std::optional<View>(View{campaign});
      })
      .KeyBy(&View::key)
      .Window(engine::Tumbling{absl::Milliseconds(generator.window_ms)})
      .Aggregate(engine::Count{})
      .To(sink);
}

}  // namespace

std::unique_ptr<engine::Query> BuildYsb(const GeneratorOptions& generator, const engine::BlockSourceOptions& block,
                                        const engine::AllOf<YsbRow>& sink) {
  return generator.profile == Profile::kYahoo ? BuildYahoo(generator, block, sink) : BuildSlash(generator, block, sink);
}

}  // namespace glaive::queries::ysb
