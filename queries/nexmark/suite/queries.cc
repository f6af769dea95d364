#include "queries/nexmark/suite/queries.h"

#include <array>

#include "queries/nexmark/events/event_options.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::kAuctionTexts;
using events::kBidExtra;
using events::kChannel;
using events::kNoText;
using events::kOtherExtra;
using events::kPersonTexts;
using events::kUrl;

constexpr std::array kQueries = {
    QueryDefinition{"q0", "the bids as they are", kBidExtra, Emitter::kReader, &BuildQ0, &RecomputeQ0},
    QueryDefinition{"q1", "the bids with their prices in euros", kBidExtra, Emitter::kReader, &BuildQ1, &RecomputeQ1,
                    &LoopQ1},
    QueryDefinition{"q2", "the bids for every 123rd auction", kNoText, Emitter::kReader, &BuildQ2, &RecomputeQ2,
                    &LoopQ2},
    QueryDefinition{"q3", "the auctions of category 10 with their sellers in three states", kPersonTexts,
                    Emitter::kLeader, &BuildQ3, &RecomputeQ3},
    QueryDefinition{"q4", "the mean of the winning prices of each category", kNoText, Emitter::kLeader, &BuildQ4,
                    &RecomputeQ4},
    QueryDefinition{"q5", "the auctions with the most bids in a sliding window", kNoText, Emitter::kLeader, &BuildQ5,
                    &RecomputeQ5, &LoopQ5},
    QueryDefinition{"q6", "the mean of the winning prices of each seller's last ten auctions", kNoText,
                    Emitter::kLeader, &BuildQ6, &RecomputeQ6},
    QueryDefinition{"q7", "the bids of the highest price in a window", kBidExtra, Emitter::kLeader, &BuildQ7,
                    &RecomputeQ7, &LoopQ7},
    QueryDefinition{"q8", "the persons who register and open an auction in a window", kPersonTexts, Emitter::kLeader,
                    &BuildQ8, &RecomputeQ8, &LoopQ8},
    QueryDefinition{"q9", "the auctions with their winning bids", kBidExtra | kAuctionTexts | kOtherExtra,
                    Emitter::kLeader, &BuildQ9, &RecomputeQ9},
    QueryDefinition{"q10", "the bids with day and minute, in a folder of each minute with --partitions", kBidExtra,
                    Emitter::kReader, &BuildQ10, &RecomputeQ10},
    QueryDefinition{"q11", "how many bids a bidder makes in a session", kNoText, Emitter::kLeader, &BuildQ11,
                    &RecomputeQ11},
    QueryDefinition{"q12", "how many bids a bidder makes in a window of the time when they are read", kNoText,
                    Emitter::kLeader, &BuildQ12, &RecomputeQ12},
    QueryDefinition{"q13", "the bids with the values that a table, the --side-input, has for their auctions", kNoText,
                    Emitter::kReader, &BuildQ13, &RecomputeQ13},
    QueryDefinition{"q14", "the bids of a price between 1 M and 50 M, with the time of day and the number of c's",
                    kBidExtra, Emitter::kReader, &BuildQ14, &RecomputeQ14},
    QueryDefinition{"q15", "bids, bidders and auctions of each day, by ranks of prices", kNoText, Emitter::kLeader,
                    &BuildQ15, &RecomputeQ15},
    QueryDefinition{"q16", "bids, bidders and auctions of each channel and day, by ranks of prices", kChannel,
                    Emitter::kLeader, &BuildQ16, &RecomputeQ16},
    QueryDefinition{"q17", "bids and prices of each auction and day", kNoText, Emitter::kLeader, &BuildQ17,
                    &RecomputeQ17},
    QueryDefinition{"q18", "the last bid of each bidder for each auction", kChannel | kUrl | kBidExtra,
                    Emitter::kLeader, &BuildQ18, &RecomputeQ18},
    QueryDefinition{"q19", "the ten highest bids for each auction, with their ranks", kChannel | kUrl | kBidExtra,
                    Emitter::kLeader, &BuildQ19, &RecomputeQ19},
    QueryDefinition{"q20", "the bids with all of their auctions, of category 10",
                    kChannel | kUrl | kBidExtra | kAuctionTexts | kOtherExtra, Emitter::kLeader, &BuildQ20,
                    &RecomputeQ20},
    QueryDefinition{"q21", "the bids with their channels' ids, by a regular expression", kChannel | kUrl,
                    Emitter::kReader, &BuildQ21, &RecomputeQ21},
    QueryDefinition{"q22", "the bids with the folders of their URLs", kChannel | kUrl, Emitter::kReader, &BuildQ22,
                    &RecomputeQ22},
};

}  // namespace

std::span<const QueryDefinition> AllQueries() { return kQueries; }

}  // namespace glaive::queries::nexmark::suite
