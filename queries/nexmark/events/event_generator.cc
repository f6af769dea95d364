#include "queries/nexmark/events/event_generator.h"

namespace glaive::queries::nexmark::events {
namespace {

std::variant<BeamRules, RenoirRules> RulesOf(const EventOptions& options) {
  if (options.rules == Rules::kRenoir) {
    return RenoirRules(options);
  }
  return BeamRules(options);
}

}  // namespace

EventGenerator::EventGenerator(const EventOptions& options, std::uint32_t executor_count)
    : options_(options), executor_count_(executor_count), rules_(RulesOf(options)) {}

void EventGenerator::Fill(std::uint32_t executor, std::uint64_t first, std::span<Event> events,
                          EventTexts& texts) const {
  std::visit(
      [&](const auto& rules) {
        for (Event& event : events) {
          event = rules.Make(NumberOf(executor, first++), texts);
        }
      },
      rules_);
}

}  // namespace glaive::queries::nexmark::events
