// Generator: the benchmark's input as a pure function of (seed, executor, record number).
//
// Immutable after construction, safe to share between threads. Any executor can produce any part of any
// executor's input in any order, so a restart or a check needs only numbers. Every field is drawn by hashing a
// counter; nothing is carried from one record to the next.
//
// Profiles:
//   slash  ad_id uniform over 1 .. keys (never 0); counted per ad_id.
//   yahoo  ad_id one of the 1,000 sparse ids of campaigns.h, uniform; joined to 100 campaigns, counted per campaign.
// Both: event_type and ad_type uniform, so one record in three is a view; with hot_key_share = s, a share s of the
// records carries key 1 (yahoo: the first ad) whatever the profile draws for the others.
// Event time never decreases with the record number: start + number * rate.span_ms / rate.records, rounded down.
//
//   Generator generator({.profile = Profile::kSlash, .rate = {.records = block, .span_ms = 10 * 600'000}});
//   generator.Fill(executor, /*first=*/0, events);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "queries/ysb/campaigns.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

enum class Profile : std::uint8_t { kSlash, kYahoo };

/// `records` records of one executor's input span `span_ms` of event time. A block of exactly `records` records
/// therefore spans exactly `span_ms` and can be repeated with event time moved on by that much.
struct EventRate {
  std::uint64_t records = 1'000;
  std::int64_t span_ms = 1;
};

inline constexpr std::int64_t kSlashWindowMs = 600'000;
inline constexpr std::int64_t kYahooWindowMs = 10'000;

struct GeneratorOptions {
  Profile profile = Profile::kSlash;
  std::uint64_t seed = 1;
  std::uint64_t keys = 10'000'000;  // slash only; keys are 1 .. keys
  EventRate rate = {};
  std::int64_t window_ms = kSlashWindowMs;
  std::int64_t start_time_ms = 1'600'000'200'000;  // rounded down to a multiple of window_ms
  double hot_key_share = 0.0;                      // 0 .. 1
};

/// InvalidArgument naming the option and its bounds.
absl::Status Validate(const GeneratorOptions& options);

/// See the head of this file.
class Generator {
 public:
  /// `options` must be valid.
  explicit Generator(const GeneratorOptions& options);

  /// Record `number` of `executor`'s input.
  YsbEvent At(std::uint32_t executor, std::uint64_t number) const;

  /// Records first .. first + events.size() - 1, the same as At would give; about 20 ns a record.
  void Fill(std::uint32_t executor, std::uint64_t first, std::span<YsbEvent> events) const;

  /// Event time of record `number`, in milliseconds; the same for every executor.
  std::int64_t EventTimeMs(std::uint64_t number) const;

  /// Event time of record 0: a multiple of window_ms.
  std::int64_t start_time_ms() const { return start_time_ms_; }
  const GeneratorOptions& options() const { return options_; }

 private:
  std::uint64_t StreamOf(std::uint32_t executor) const;
  YsbEvent Draw(std::uint64_t stream, std::uint64_t number, std::int64_t event_time_ms) const;

  GeneratorOptions options_;
  std::int64_t start_time_ms_ = 0;
  std::uint64_t hot_threshold_ = 0;  // of 2^32
  std::vector<Ad> ads_;              // yahoo only
};

}  // namespace glaive::queries::ysb
