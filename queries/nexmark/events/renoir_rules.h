// RenoirRules: an event of its number as the Rust crate nexmark 0.2 makes it, which Renoir's programs read, with
// SmallRng seeded by the number: the same draws in the same order.
//
//   RenoirRules rules(options);
//   const Event event = rules.Make(number, texts);
//
// Immutable, safe to share between threads. An event takes about as long as with BeamRules.
#pragma once

#include <cstdint>

#include "queries/nexmark/events/channels.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_options.h"
#include "queries/nexmark/events/event_texts.h"
#include "queries/nexmark/events/small_rng.h"

namespace glaive::queries::nexmark::events {

class RenoirRules {
 public:
  /// `options` must be valid, with these rules.
  explicit RenoirRules(const EventOptions& options);

  /// Its texts are `texts`'s.
  Event Make(std::uint64_t number, EventTexts& texts) const;

 private:
  Person MakePerson(std::uint64_t number, SmallRng& random, EventTexts& texts) const;
  Auction MakeAuction(std::uint64_t number, SmallRng& random, EventTexts& texts) const;
  Bid MakeBid(std::uint64_t number, SmallRng& random, EventTexts& texts) const;
  std::uint64_t DrawPerson(std::uint64_t number, SmallRng& random) const;
  std::uint64_t DrawAuction(std::uint64_t number, SmallRng& random) const;

  EventOptions options_;
  Channels channels_;
};

}  // namespace glaive::queries::nexmark::events
