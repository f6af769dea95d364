#include "queries/ysb/ysb_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/sink/collect.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "queries/ysb/leader_check.h"

namespace glaive::queries::ysb {
namespace {

constexpr std::int64_t kDefaultWindows = 10;  // that a block of input spans

/// What --verify may keep of a stream whose length is not known beforehand (--seconds).
constexpr std::uint64_t kOpenEndedVerifyBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kVerifyBytesPerRow = sizeof(YsbRow) + sizeof(ResultRow);

std::string EncodeTotals(const Totals& totals) {
  return absl::StrCat(totals.rows, " ", totals.count_sum, " ", totals.checksum);
}

absl::StatusOr<std::vector<std::uint64_t>> DecodeNumbers(const std::string& text, std::size_t count) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  std::vector<std::uint64_t> numbers(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.size() != count || !absl::SimpleAtoi(words[i], &numbers[i])) {
      return absl::InvalidArgumentError(absl::StrCat("a node's totals cannot be read: '", text, "'"));
    }
  }
  return numbers;
}

}  // namespace

std::string YsbProgram::summary() const {
  return "The Yahoo Streaming Benchmark: views per key and event-time window, over generated events of 78 bytes.\n"
         "  --profile=slash: 10 M uniform keys, windows of 10 min   --profile=yahoo: 1000 ads of 100 campaigns, 10 s";
}

void YsbProgram::RegisterFlags(engine::FlagSet& flags) {
  const std::string group = "Query (ysb)";
  flags.AddChoice({.name = "profile", .group = group, .help = "which variant of the benchmark"}, flags_.profile,
                  {{"slash", Profile::kSlash}, {"yahoo", Profile::kYahoo}});
  flags.AddInteger({.name = "records",
                    .group = group,
                    .help = "events in memory for each executor; read once, or repeated with --seconds"},
                   flags_.records, {.min = 1, .max = 1'000'000'000'000});
  flags.AddDuration({.name = "seconds",
                     .group = group,
                     .help = "how long to read, repeating the events with later event times; 0: read them once"},
                    flags_.seconds);
  flags.AddInteger(
      {.name = "seed", .group = group, .help = "the input is a function of it, the executor and the event's number"},
      flags_.seed);
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys of the slash profile"}, flags_.keys,
                   {.min = 1, .max = 1ULL << 40});
  flags.AddDuration(
      {.name = "window", .group = group, .help = "length of a window, whole milliseconds; 0: the profile's"},
      flags_.window);
  flags.AddInteger({.name = "event-rate",
                    .group = group,
                    .help = "events of an executor in a second of event time; 0: so many that they span 10 windows"},
                   flags_.event_rate, {.min = 0, .max = 1'000'000'000'000});
  flags.AddDouble(
      {.name = "rate", .group = group, .help = "events that an executor reads in a second; 0: as fast as it can"},
      flags_.rate, {.min = 0, .max = 1e12});
  flags.AddDouble(
      {.name = "hot-key-share", .group = group, .help = "share of the events that carry one hot key, 0 to 1"},
      flags_.hot_key_share, {.min = 0, .max = 1});
  flags.AddCheck([this]() -> absl::Status {
    if (flags_.window != absl::Trunc(flags_.window, absl::Milliseconds(1))) {
      return absl::InvalidArgumentError("--window must be whole milliseconds, e.g. 10s or 250ms");
    }
    return Validate(MakeGenerator());
  });
}

GeneratorOptions YsbProgram::MakeGenerator() const {
  GeneratorOptions options;
  options.profile = flags_.profile;
  options.seed = flags_.seed;
  options.keys = flags_.keys;
  options.hot_key_share = flags_.hot_key_share;
  options.window_ms = flags_.profile == Profile::kSlash ? kSlashWindowMs : kYahooWindowMs;
  if (flags_.window != absl::ZeroDuration()) {
    options.window_ms = absl::ToInt64Milliseconds(flags_.window);
  }
  options.rate = flags_.event_rate == 0
                     ? EventRate{.records = flags_.records, .span_ms = kDefaultWindows * options.window_ms}
                     : EventRate{.records = flags_.event_rate, .span_ms = 1000};
  return options;
}

engine::BlockSourceOptions YsbProgram::MakeBlock() const {
  const Generator generator(MakeGenerator());
  const std::int64_t window_ms = generator.options().window_ms;
  const std::int64_t used_ms = generator.EventTimeMs(flags_.records) - generator.start_time_ms();
  engine::BlockSourceOptions block;
  block.block_records = flags_.records;
  block.records_per_second = flags_.rate;
  block.span_ms = std::max<std::int64_t>(1, (used_ms + window_ms - 1) / window_ms) * window_ms;  // whole windows
  if (flags_.seconds == absl::ZeroDuration()) {
    block.total_records = flags_.records;
  } else {
    block.duration_ns = absl::ToInt64Nanoseconds(flags_.seconds);
  }
  return block;
}

absl::StatusOr<std::unique_ptr<engine::Query>> YsbProgram::Build(const engine::EngineOptions& options,
                                                                 std::uint32_t executor_count) {
  std::vector<engine::SinkFactory<YsbRow>> sinks;
  if (!options.output.output.empty()) {
    sinks.push_back(engine::Csv{options.output.output}.Factory<YsbRow>());
  }
  if (options.output.verify) {
    rows_.resize(executor_count);
    const std::uint64_t max_rows = verify_memory_bytes(executor_count) / kVerifyBytesPerRow / options.cluster.executors;
    sinks.push_back(engine::Collect(rows_, max_rows).Factory<YsbRow>());
  }
  if (sinks.empty()) {
    sinks.push_back(engine::Discard{}.Factory<YsbRow>());
  }
  return BuildYsb(MakeGenerator(), MakeBlock(), engine::AllOf<YsbRow>(std::move(sinks)));
}

std::uint64_t YsbProgram::verify_memory_bytes(std::uint32_t executor_count) const {
  if (flags_.seconds != absl::ZeroDuration()) {
    return kOpenEndedVerifyBytes;
  }
  // An event makes one row at most. One in three is a view, so half of them is a generous limit for all leaders.
  const std::uint64_t rows = std::uint64_t{executor_count} * (flags_.records / 2 + 1000);
  return rows * kVerifyBytesPerRow;
}

absl::StatusOr<std::string> YsbProgram::CheckNode(const engine::RunFacts& facts,
                                                  const std::function<absl::Status()>& watch) {
  const engine::BlockSourceOptions block = MakeBlock();
  const Oracle oracle({.generator = MakeGenerator(),
                       .record_counts = facts.records_read,
                       .block_records = block.block_records,
                       .block_span_ms = block.span_ms});
  const Oracle::Verdict verdict = CheckLeaders(oracle, rows_, facts.leaders, watch);
  if (!verdict.status.ok()) {
    return verdict.status;
  }
  return absl::StrCat(EncodeTotals(verdict.expected), " ", EncodeTotals(verdict.emitted));
}

absl::Status YsbProgram::CheckRun(std::span<const std::string> nodes) {
  Totals expected;
  Totals emitted;
  for (const std::string& node : nodes) {
    const absl::StatusOr<std::vector<std::uint64_t>> numbers = DecodeNumbers(node, 6);
    if (!numbers.ok()) {
      return numbers.status();
    }
    const std::vector<std::uint64_t>& n = *numbers;
    expected = Totals{.rows = n[0], .count_sum = n[1], .checksum = n[2]};
    emitted.Merge(Totals{.rows = n[3], .count_sum = n[4], .checksum = n[5]});
  }
  return CheckTotals(expected, emitted);
}

}  // namespace glaive::queries::ysb
