// InputFlags: the flags by which all queries' generated inputs are described.
//
// Plain values, registered with a FlagSet by the query's program, which sets the defaults before that.
//
//   InputFlags flags{.keys = 1'000'000};
//   RegisterInputFlags(flag_set, flags);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "engine/flags/flag_set.h"
#include "engine/source/block_source.h"
#include "queries/common/generator.h"

namespace glaive::queries {

inline constexpr const char* kExportInputFlag = "export-input";

struct InputFlags {
  std::uint64_t records = 10'000'000;             // of an executor: all, or with `seconds` the block that is repeated
  absl::Duration seconds = absl::ZeroDuration();  // how long to read; 0: until `records` are read
  std::uint64_t seed = 1;
  std::uint64_t keys = 1'000'000;
  std::string key_distribution = "uniform";
  double hot_key_share = 0;
  std::uint64_t event_rate = 0;  // records a second of event time; 0: so many that they span 10 windows
  double rate = 0;               // records a second of real time; 0: no limit
  absl::Duration disorder = absl::ZeroDuration();
  std::optional<absl::Duration> allowed_lateness = {};  // absent: the disorder
  std::uint64_t watermark_every = 1024;                 // records
  std::uint64_t idle_flows = 0;                         // executors that fall silent, the last ones of the run
  absl::Duration idle_for = absl::Seconds(30);          // until their flows end
  std::string export_input = {};                        // CSV file, or empty

  std::int64_t allowed_lateness_ms() const;
};

/// Adds the flags, with a check that they make sense.
void RegisterInputFlags(engine::FlagSet& flags, InputFlags& values);

/// Adds the flag of a window's length or slide: whole milliseconds, at least `least`.
void AddWindowFlag(engine::FlagSet& flags, engine::FlagInfo info, absl::Duration& value,
                   absl::Duration least = absl::Milliseconds(1));

/// What --help says of --rate.
inline constexpr std::string_view kRateHelp =
    "records that each executor is offered in a second, at even times from which latencies count; 0: it reads as fast "
    "as it can";
/// InvalidArgument for a rate so low that a record takes minutes to come.
absl::Status CheckRate(double records_per_second);

/// InvalidArgument for input that a hand-written loop (--engine=loop) does not read: its records come from memory, in
/// the order of event time.
absl::Status CheckLoopInput(const InputFlags& flags, bool reads_files);

/// InvalidArgument, naming --window and --slide, when sliding windows of these lengths make no sense.
absl::Status CheckSliding(absl::Duration window, absl::Duration slide);

/// The input that the flags describe, of which `window_ms` is a window, or a day where there is none: the event rate
/// makes 10 of them by default, and the start is a multiple of it. The flags must have passed their check.
InputOptions MakeInput(const InputFlags& flags, std::int64_t window_ms);

/// How an executor reads that input.
engine::BlockSourceOptions MakeBlock(const InputFlags& flags, std::int64_t window_ms);
/// The same with other event times than those that MakeInput gives it.
engine::BlockSourceOptions MakeBlock(const InputFlags& flags, const TimelineOptions& times, std::int64_t window_ms);

/// Whether the flow of an executor that reads is one of those that fall silent.
bool FallsSilent(const InputFlags& flags, std::uint32_t reader, std::uint32_t reader_count);
/// The number of records that such a flow reads.
std::uint64_t RecordsBeforeSilence(const InputFlags& flags);

}  // namespace glaive::queries
