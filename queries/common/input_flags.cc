#include "queries/common/input_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "engine/window/windows.h"

namespace glaive::queries {
namespace {

constexpr std::int64_t kDefaultWindows = 10;  // that a block of input spans

bool IsWholeMillis(absl::Duration duration) { return duration == absl::Trunc(duration, absl::Milliseconds(1)); }

}  // namespace

std::int64_t InputFlags::allowed_lateness_ms() const {
  return absl::ToInt64Milliseconds(allowed_lateness.value_or(disorder));
}

void RegisterInputFlags(engine::FlagSet& flags, InputFlags& values) {
  const std::string group = "Input";
  flags.AddInteger({.name = "records",
                    .group = group,
                    .help = "records in memory for each executor that reads; read once, or repeated with --seconds"},
                   values.records, {.min = 1, .max = 1'000'000'000'000});
  flags.AddDuration({.name = "seconds",
                     .group = group,
                     .help = "how long to read, repeating the records with later event times; 0: read them once"},
                    values.seconds);
  flags.AddInteger(
      {.name = "seed", .group = group, .help = "the input is a function of it, the executor and the record's number"},
      values.seed);
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys, where the profile does not fix them"},
                   values.keys, {.min = 1, .max = kMaxKeys});
  flags.AddString({.name = "key-distribution",
                   .group = group,
                   .help = "uniform, zipf:Z, pareto:A or geometric:P; key 1 is the most frequent"},
                  values.key_distribution, "LAW");
  flags.AddDouble({.name = "hot-key-share", .group = group, .help = "share of the records that carry key 1, 0 to 1"},
                  values.hot_key_share, {.min = 0, .max = 1});
  flags.AddInteger({.name = "event-rate",
                    .group = group,
                    .help = "records of an executor in a second of event time; 0: so many that they span 10 windows"},
                   values.event_rate, {.min = 0, .max = 1'000'000'000'000});
  flags.AddDouble({.name = "rate", .group = group, .help = std::string(kRateHelp)}, values.rate,
                  {.min = 0, .max = 1e12});
  flags.AddDuration({.name = "disorder",
                     .group = group,
                     .help = "the most by which a record's event time lies behind its place in the input, at random"},
                    values.disorder);
  flags.AddDuration(
      {.name = "allowed-lateness",
       .group = group,
       .help = "how far watermarks stay behind the latest event time; by default as far as --disorder, so "
               "that no record is late"},
      values.allowed_lateness);
  flags.AddInteger({.name = "watermark-every",
                    .group = group,
                    .help = "records of an executor between two watermarks, with --disorder or --input"},
                   values.watermark_every, {.min = 1, .max = 1ULL << 40});
  flags.AddInteger(
      {.name = "idle-flows",
       .group = group,
       .help = "executors, the last ones of those that read, that read half of their records and then nothing more"},
      values.idle_flows, {.min = 0, .max = 1'000'000});
  flags.AddDuration({.name = "idle-for", .group = group, .help = "time after which the flows of these executors end"},
                    values.idle_for);
  flags.AddString({.name = kExportInputFlag,
                   .group = group,
                   .help = "writes the records of all executors to a CSV file before the run",
                   .file = engine::FileUse::kWrite},
                  values.export_input, "FILE");
  flags.AddCheck([&values]() -> absl::Status {
    const absl::StatusOr<KeyLaw> law = KeyLaw::Parse(values.key_distribution);
    if (!law.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--key-distribution: ", law.status().message()));
    }
    if (!IsWholeMillis(values.disorder) || !IsWholeMillis(values.allowed_lateness.value_or(values.disorder))) {
      return absl::InvalidArgumentError("--disorder and --allowed-lateness must be whole milliseconds, e.g. 250ms");
    }
    if (!values.export_input.empty() && values.seconds != absl::ZeroDuration()) {
      return absl::InvalidArgumentError("--export-input does not go with --seconds: the input has no end beforehand");
    }
    return CheckRate(values.rate);
  });
}

void AddWindowFlag(engine::FlagSet& flags, engine::FlagInfo info, absl::Duration& value, absl::Duration least) {
  const std::string name = info.name;
  info.help += ", whole milliseconds";
  flags.AddDuration(info, value, {.min = least});
  flags.AddCheck([name, &value] {
    return IsWholeMillis(value)
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat("--", name, " must be whole milliseconds, e.g. 10s or 250ms"));
  });
}

absl::Status CheckRate(double records_per_second) {
  constexpr double kLeast = 0.01;
  return records_per_second == 0 || records_per_second >= kLeast
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   "--rate=", records_per_second, " offers a record every ", 1 / records_per_second,
                   " s; it must be 0, as fast as executors read, or at least ", kLeast, " records a second"));
}

absl::Status CheckLoopInput(const InputFlags& flags, bool reads_files) {
  if (reads_files) {
    return absl::InvalidArgumentError("--engine=loop reads generated records from memory: leave out --input");
  }
  if (flags.disorder != absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--engine=loop takes records in the order of event time: leave out --disorder");
  }
  return absl::OkStatus();
}

absl::Status CheckSliding(absl::Duration window, absl::Duration slide) {
  const absl::Status valid = engine::Windows::Validate(engine::Sliding{.size = window, .slide = slide});
  return valid.ok() ? valid : absl::InvalidArgumentError(absl::StrCat("--window and --slide make ", valid.message()));
}

InputOptions MakeInput(const InputFlags& flags, std::int64_t window_ms) {
  InputOptions input;
  input.seed = flags.seed;
  input.keys = {.count = flags.keys,
                .law = KeyLaw::Parse(flags.key_distribution).value_or(KeyLaw{}),
                .hot_share = flags.hot_key_share};
  input.timeline.align_ms = window_ms;
  input.timeline.disorder_ms = absl::ToInt64Milliseconds(flags.disorder);
  input.timeline.rate = flags.event_rate == 0
                            ? EventRate{.records = flags.records, .span_ms = kDefaultWindows * window_ms}
                            : EventRate{.records = flags.event_rate, .span_ms = 1000};
  return input;
}

engine::BlockSourceOptions MakeBlock(const InputFlags& flags, std::int64_t window_ms) {
  return MakeBlock(flags, MakeInput(flags, window_ms).timeline, window_ms);
}

engine::BlockSourceOptions MakeBlock(const InputFlags& flags, const TimelineOptions& times, std::int64_t window_ms) {
  const Timeline timeline(times);
  const std::int64_t used_ms = timeline.InOrderMs(flags.records) - timeline.start_time_ms();
  engine::BlockSourceOptions block;
  block.block_records = flags.records;
  block.records_per_second = flags.rate;
  block.span_ms = std::max<std::int64_t>(1, (used_ms + window_ms - 1) / window_ms) * window_ms;  // whole windows
  block.watermark_every = flags.disorder == absl::ZeroDuration() ? 0 : flags.watermark_every;
  if (flags.seconds == absl::ZeroDuration()) {
    block.total_records = flags.records;
  } else {
    block.duration_ns = absl::ToInt64Nanoseconds(flags.seconds);
  }
  return block;
}

bool FallsSilent(const InputFlags& flags, std::uint32_t reader, std::uint32_t reader_count) {
  return reader + flags.idle_flows >= reader_count;
}

std::uint64_t RecordsBeforeSilence(const InputFlags& flags) { return (flags.records + 1) / 2; }

}  // namespace glaive::queries
