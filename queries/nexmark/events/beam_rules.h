// BeamRules: an event of its number as Apache Beam's suite makes it, with java.util.Random seeded by the number: the
// same draws in the same order. The bids of Rules::kFlink draw their channels, too.
//
//   BeamRules rules(options);
//   const Event event = rules.Make(number, texts);
//
// Immutable, safe to share between threads. An event takes 0.2 to 2 us, most of it for the letters of its texts.
#pragma once

#include <cstdint>

#include "queries/nexmark/events/channels.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_options.h"
#include "queries/nexmark/events/event_texts.h"
#include "queries/nexmark/events/java_random.h"

namespace glaive::queries::nexmark::events {

class BeamRules {
 public:
  /// `options` must be valid, with the rules of Beam or Flink.
  explicit BeamRules(const EventOptions& options);

  /// Its texts are `texts`'s.
  Event Make(std::uint64_t number, EventTexts& texts) const;

 private:
  Person MakePerson(std::uint64_t number, JavaRandom& random, EventTexts& texts) const;
  Auction MakeAuction(std::uint64_t number, JavaRandom& random, EventTexts& texts) const;
  Bid MakeBid(std::uint64_t number, JavaRandom& random, EventTexts& texts) const;
  std::uint64_t DrawPerson(std::uint64_t number, JavaRandom& random) const;
  std::uint64_t DrawAuction(std::uint64_t number, JavaRandom& random) const;

  EventOptions options_;
  Channels channels_;
};

}  // namespace glaive::queries::nexmark::events
