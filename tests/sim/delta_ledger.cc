#include "tests/sim/delta_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "xxhash.h"

namespace glaive::sim {
namespace {

std::uint64_t HashOf(const state::DeltaChunk& chunk) {
  return XXH3_64bits_withSeed(chunk.texts.data(), chunk.texts.size(),
                              XXH3_64bits(chunk.runs.data(), chunk.runs.size()));
}

std::string Show(const state::DeltaTag& tag) {
  return absl::StrCat(tag.runs_bytes, " bytes of entries", tag.has_marker == 1 ? " and the marker" : "", " of epoch ",
                      tag.epoch, " of input ", tag.input);
}

}  // namespace

std::int64_t DeltaLedger::CoveredNow(ExecutorId executor, std::uint32_t input) const {
  std::int64_t told_ms = kBeginningMs;
  for (std::size_t source = 0; source < truth_->sources(); ++source) {
    const bool is_of_input =
        options_.unites_sources || source == std::min<std::size_t>(input - options_.first_input, truth_->sources() - 1);
    if (options_.inputs_are_sources && !is_of_input) continue;
    // A stage that takes in results of another does not wait for an idle flow, though the flow may be behind.
    const bool holds_nothing_back = !options_.inputs_are_sources && truth_->IsIdle(source, executor);
    told_ms = std::max(told_ms, holds_nothing_back ? kEndMs : truth_->ToldMs(source, executor));
  }
  return told_ms == kBeginningMs || told_ms == kEndMs ? told_ms : told_ms - options_.lateness_ms;
}

void DeltaLedger::OnQueued(ExecutorId from, ExecutorId to, const state::DeltaChunk& chunk) {
  const std::uint32_t input = chunk.tag.input;
  rings_[{from, to}].under_way.push_back(
      {.tag = chunk.tag, .hash = HashOf(chunk), .covers_ms = CoveredNow(from, input)});
  inputs_.insert(input);
}

void DeltaLedger::OnMerged(ExecutorId from, ExecutorId to, const state::DeltaChunk& chunk) {
  const state::DeltaTag& tag = chunk.tag;
  const std::optional<state::EpochMarker>& marker = chunk.marker;
  Ring& ring = rings_[{from, to}];
  if (ring.under_way.empty() || ring.under_way.front().tag != tag) {
    if (!broken_) {
      broken_ = absl::StrCat("I2: executor ", Value(to), " has merged ", Show(tag), " of executor ", Value(from),
                             "; due was ",
                             ring.under_way.empty() ? std::string("nothing") : Show(ring.under_way.front().tag));
    }
    return;
  }
  if (ring.under_way.front().hash != HashOf(chunk) && !broken_) {
    broken_ = absl::StrCat("I2: executor ", Value(to), " has merged ", Show(tag), " of executor ", Value(from),
                           ", but other entries than were queued");
  }
  if (marker && options_.inputs_are_sources && marker->watermark_ms > ring.under_way.front().covers_ms && !broken_) {
    broken_ = absl::StrCat("I3: executor ", Value(from), " tells of ", marker->watermark_ms, " ms in ", Show(tag),
                           ", and its flow is at ", ring.under_way.front().covers_ms, " ms");
  }
  if (tag.has_marker == 1) ring.merged_ms[tag.input] = ring.under_way.front().covers_ms;
  ring.under_way.pop_front();
}

std::optional<std::string> DeltaLedger::AtRow(ExecutorId leader, std::int64_t window_end_ms) const {
  for (std::uint32_t other = 0; other < options_.executors; ++other) {
    if (ExecutorId{other} == leader) continue;
    const auto ring = rings_.find({ExecutorId{other}, leader});
    for (const std::uint32_t input : inputs_) {
      std::int64_t merged_ms = kBeginningMs;
      if (ring != rings_.end() && ring->second.merged_ms.contains(input)) merged_ms = ring->second.merged_ms.at(input);
      if (window_end_ms > merged_ms) {
        return absl::StrCat("I3: executor ", Value(leader), " has a row of a window that ends at ", window_end_ms,
                            " ms, and of input ", input, " of executor ", other, " it has merged what comes before ",
                            merged_ms);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> DeltaLedger::AtEnd() const {
  for (const auto& [ends, ring] : rings_) {
    if (!ring.under_way.empty()) {
      return absl::StrCat("I2: ", ring.under_way.size(), " chunks of executor ", Value(ends.first), " for executor ",
                          Value(ends.second), " have not been merged, first: ", Show(ring.under_way.front().tag));
    }
  }
  return std::nullopt;
}

}  // namespace glaive::sim
