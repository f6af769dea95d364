// EventGenerator: the events of a run as a pure function of (options, executor, position). All executors together read
// one stream of events, in rounds of 50 in turn:
//
//   executor 0   events   0 ... 49   100 ... 149   200 ...
//   executor 1   events  50 ... 99   150 ... 199   250 ...
//
// So each executor has as many persons, auctions and bids as another, and all advance alike in event time. With
// disorder, what comes in a place of the stream is another event of its group.
//
// Immutable, safe to share between threads.
//
//   EventGenerator generator(options, /*executor_count=*/2);
//   EventTexts texts(options.texts);
//   generator.Fill(/*executor=*/1, /*first=*/0, events, texts);
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "queries/nexmark/events/beam_rules.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_options.h"
#include "queries/nexmark/events/event_texts.h"
#include "queries/nexmark/events/numbering.h"
#include "queries/nexmark/events/renoir_rules.h"

namespace glaive::queries::nexmark::events {

class EventGenerator {
 public:
  /// `options` must be valid.
  EventGenerator(const EventOptions& options, std::uint32_t executor_count);

  const EventOptions& options() const { return options_; }

  /// Events first .. first + events.size() - 1 of an executor's input; their texts are `texts`'s.
  void Fill(std::uint32_t executor, std::uint64_t first, std::span<Event> events, EventTexts& texts) const;

  /// The number of an executor's event.
  std::uint64_t NumberOf(std::uint32_t executor, std::uint64_t position) const {
    const std::uint64_t round = position / kEventsOfRound * executor_count_ + executor;
    return InDisorder(round * kEventsOfRound + position % kEventsOfRound, options_.disorder_group);
  }

 private:
  EventOptions options_;
  std::uint32_t executor_count_;
  std::variant<BeamRules, RenoirRules> rules_;
};

}  // namespace glaive::queries::nexmark::events
