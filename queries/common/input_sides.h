// InputSides: a generated input of two kinds of records that a query joins. Of 5 records of an executor 4 are the left
// side's and 1 is the right one's, as in the Slash paper's joins (section 8.1.2).
//
// The flags of the input (InputFlags) are about both sides together: --records, --event-rate and --rate are divided
// between them. Each side is a flow of its own, drawn from a seed of its own, with its own order and watermark; both
// cover the same event time.
//
//   const InputSides sides = MakeSides(flags, window_ms);
//   AuctionGenerator auctions(sides.left.options);
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/source/block_source.h"
#include "queries/common/generator.h"
#include "queries/common/input_flags.h"

namespace glaive::queries {

struct InputSide {
  InputFlags flags;  // with the side's own seed, records and rate
  InputOptions options;
  engine::BlockSourceOptions block;
};

struct InputSides {
  InputSide left;
  InputSide right;
};

/// What MakeInput and MakeBlock are for an input of one kind of records. The flags must have passed their check and
/// CheckSides.
InputSides MakeSides(const InputFlags& flags, std::int64_t window_ms);

/// InvalidArgument if there are not enough records for both sides.
absl::Status CheckSides(const InputFlags& flags);

}  // namespace glaive::queries
