#include "queries/nexmark/suite/queries.h"

#include <array>

#include "queries/nexmark/events/event_options.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::kBidExtra;
using events::kChannel;
using events::kNoText;
using events::kUrl;

constexpr std::array kQueries = {
    QueryDefinition{"q0", "the bids as they are", kBidExtra, Emitter::kReader, &BuildQ0, &RecomputeQ0},
    QueryDefinition{"q1", "the bids with their prices in euros", kBidExtra, Emitter::kReader, &BuildQ1, &RecomputeQ1},
    QueryDefinition{"q2", "the bids for every 123rd auction", kNoText, Emitter::kReader, &BuildQ2, &RecomputeQ2},
    QueryDefinition{"q5", "the auctions with the most bids in a sliding window", kNoText, Emitter::kLeader, &BuildQ5,
                    &RecomputeQ5},
    QueryDefinition{"q11", "how many bids a bidder makes in a session", kNoText, Emitter::kLeader, &BuildQ11,
                    &RecomputeQ11},
    QueryDefinition{"q14", "the bids of a price between 1 M and 50 M, with the time of day and the number of c's",
                    kBidExtra, Emitter::kReader, &BuildQ14, &RecomputeQ14},
    QueryDefinition{"q17", "bids and prices of each auction and day", kNoText, Emitter::kLeader, &BuildQ17,
                    &RecomputeQ17},
    QueryDefinition{"q21", "the bids with their channels' ids, by a regular expression", kChannel | kUrl,
                    Emitter::kReader, &BuildQ21, &RecomputeQ21},
    QueryDefinition{"q22", "the bids with the folders of their URLs", kChannel | kUrl, Emitter::kReader, &BuildQ22,
                    &RecomputeQ22},
};

}  // namespace

std::span<const QueryDefinition> AllQueries() { return kQueries; }

}  // namespace glaive::queries::nexmark::suite
