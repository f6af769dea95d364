#include "queries/common/input_sides.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "queries/common/random.h"

namespace glaive::queries {
namespace {

constexpr std::uint64_t kLeftOf = 4;                          // records of ...
constexpr std::uint64_t kAllOf = 5;                           // ... so many
constexpr std::uint64_t kRightSeedSalt = 0x5249474854534944;  // arbitrary, but part of the input's definition

InputSide MakeSide(const InputFlags& flags, std::int64_t window_ms, std::uint64_t records,
                   std::uint64_t share_of_five) {
  InputSide side{.flags = flags, .options = {}, .block = {}};
  side.flags.records = records;
  side.flags.rate = flags.rate * static_cast<double>(records) / static_cast<double>(flags.records);
  side.options = MakeInput(side.flags, window_ms);
  if (flags.event_rate != 0) {
    side.options.timeline.rate = {.records = share_of_five * flags.event_rate, .span_ms = kAllOf * 1000};
  }
  return side;
}

}  // namespace

InputSides MakeSides(const InputFlags& flags, std::int64_t window_ms) {
  const std::uint64_t right_records = flags.records / kAllOf;
  InputSides sides{.left = MakeSide(flags, window_ms, flags.records - right_records, kLeftOf),
                   .right = MakeSide(flags, window_ms, right_records, kAllOf - kLeftOf)};
  sides.right.flags.seed = Mix(flags.seed ^ kRightSeedSalt);
  sides.right.options.seed = sides.right.flags.seed;
  for (InputSide* side : {&sides.left, &sides.right}) {
    side->block = MakeBlock(side->flags, side->options.timeline, window_ms);
  }
  // A repetition moves both on by as much.
  sides.left.block.span_ms = std::max(sides.left.block.span_ms, sides.right.block.span_ms);
  sides.right.block.span_ms = sides.left.block.span_ms;
  return sides;
}

absl::Status CheckSides(const InputFlags& flags) {
  if (flags.records < kAllOf) {
    return absl::InvalidArgumentError(absl::StrCat("--records=", flags.records, ": at least ", kAllOf, " are needed, ",
                                                   "of which ", kLeftOf, " are the left side's of the join"));
  }
  return absl::OkStatus();
}

}  // namespace glaive::queries
