#include "queries/nexmark/nexmark_program.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "queries/common/input_flags.h"
#include "queries/common/leader_rows.h"
#include "queries/common/verify_memory.h"
#include "queries/nexmark/suite/lines_check.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Rules;

constexpr std::uint32_t kTextsOfChannels = events::kChannel | events::kUrl;

/// Of q5's window: each has a row, and more while the most bids are found.
constexpr std::int64_t kMostSlides = 3'600;

/// The lines of some executors, each of a bid and perhaps its auction: numbers, and the longest texts that it has.
std::uint64_t MostLineBytes(const EventInput& input, std::uint32_t reader_count, bool is_with_auction) {
  constexpr double kMost = 0x1p60;  // beyond any memory
  constexpr double kNumbersAndUrl = 300;
  const double line = double{engine::RetainedLines::kOverheadBytes} + kNumbersAndUrl + 1.2 * input.events.bid_bytes +
                      (is_with_auction ? 1.2 * input.events.auction_bytes : 0);
  return static_cast<std::uint64_t>(std::min(kMost, reader_count * static_cast<double>(input.records) * line));
}

}  // namespace

std::string NexmarkProgram::summary() const {
  std::string summary =
      "NEXMark: queries over the persons, auctions and bids of an auction house, with all their fields.";
  for (const QueryDefinition& query : AllQueries()) {
    absl::StrAppend(&summary, "\n  --query=", std::string(query.name), ": ", std::string(query.question));
  }
  return summary;
}

void NexmarkProgram::RegisterFlags(engine::FlagSet& flags) {
  const std::string group = absl::StrCat("Query (", name(), ")");
  std::vector<std::pair<std::string, std::size_t>> names;
  for (const QueryDefinition& query : AllQueries()) {
    names.emplace_back(query.name, names.size());
  }
  flags.AddChoice({.name = "query", .group = group, .help = "which query of the suite to run"}, query_, names);
  flags.AddChoice(
      {.name = "profile",
       .group = group,
       .help = "whose events and windows: those of Flink's suite, of Apache Beam's or of Renoir, or Flink's "
               "events in the sizes and windows of Slash, or in the windows of NEXMark's authors"},
      profile_,
      {{"flink", Profile::kFlink},
       {"beam", Profile::kBeam},
       {"renoir", Profile::kRenoir},
       {"slash", Profile::kSlash},
       {"original", Profile::kOriginal}});
  flags.AddChoice({.name = "format",
                   .group = group,
                   .help = "whether events have all of their texts, or those alone that the query reads"},
                  format_, {{"full", Format::kFull}, {"lean", Format::kLean}});
  const auto add_length = [&](const char* name, const char* help, std::optional<absl::Duration>& length) {
    flags.AddDuration({.name = name, .group = group, .help = help}, length, {.min = absl::Milliseconds(1)});
  };
  add_length(
      "window",
      "length of the windows of q5, q7, q8 and q12, or the pause between q11's sessions, in place of the profile's",
      window_);
  add_length("slide", "slide of q5's window, in place of the profile's", slide_);
  files_.Register(flags, group);
  RegisterEventInput(flags, input_);
  flags.AddCheck([this, &flags] {
    SetSizes(flags);
    return CheckFlags();
  });
}

void NexmarkProgram::SetSizes(const engine::FlagSet& flags) {
  if (profile_ != Profile::kSlash) {
    return;
  }
  const auto set = [&](std::string_view flag, std::uint32_t& bytes, std::uint32_t of_slash) {
    bytes = flags.WasGiven(flag) ? bytes : of_slash;
  };
  set("person-bytes", input_.events.person_bytes, 206);
  set("auction-bytes", input_.events.auction_bytes, 269);
  set("bid-bytes", input_.events.bid_bytes, 32);
}

const QueryDefinition& NexmarkProgram::query() const { return AllQueries()[query_]; }

absl::Status NexmarkProgram::CheckFlags() const {
  const std::string name(query().name);
  if (profile_ == Profile::kBeam && (query().texts & kTextsOfChannels) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--query=", name,
                                                   " reads channels and URLs, which bids of --profile=beam do not "
                                                   "have; take the profile flink or renoir"));
  }
  if (absl::Status status = files_.Check(name); !status.ok()) {
    return status;
  }
  const bool has_window = name == "q5" || name == "q7" || name == "q8" || name == "q11" || name == "q12";
  if ((window_ && !has_window) || (slide_ && name != "q5")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--window is of q5, q7, q8, q11 and q12, and --slide of q5; leave them out with --query=", name));
  }
  const SuiteOptions options = suite_options();
  const auto is_whole = [](absl::Duration length) { return length == absl::Trunc(length, absl::Milliseconds(1)); };
  if (!is_whole(options.hot_items_window) || !is_whole(options.hot_items_slide) || !is_whole(options.session_gap)) {
    return absl::InvalidArgumentError("--window and --slide must be whole milliseconds, e.g. 10s or 250ms");
  }
  if (name != "q5") {
    return absl::OkStatus();
  }
  if (options.hot_items_window % options.hot_items_slide != absl::ZeroDuration()) {
    return absl::InvalidArgumentError("the --window of q5 must be a multiple of its --slide");
  }
  if (options.hot_items_window / options.hot_items_slide > kMostSlides) {
    return absl::InvalidArgumentError(
        absl::StrCat("the --window of q5 is too long: it must be at most ", kMostSlides, " times its --slide"));
  }
  return CheckSliding(options.hot_items_window, options.hot_items_slide);
}

absl::Status NexmarkProgram::CheckLoop() const {
  if (query().loop == nullptr) {
    std::vector<std::string> with_loops;
    for (const QueryDefinition& each : AllQueries()) {
      if (each.loop != nullptr) {
        with_loops.emplace_back(each.name);
      }
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "--query=", std::string(query().name), " has no hand-written loop; leave out --engine=loop, or take one of ",
        absl::StrJoin(with_loops, ", ")));
  }
  if (input_.generate == Generate::kLive) {
    return absl::InvalidArgumentError("--engine=loop reads events from memory: leave out --generate=live");
  }
  if (input_.events.disorder_group != 1) {
    return absl::InvalidArgumentError(
        "--engine=loop takes events in the order of their times: leave out --disorder-group");
  }
  return absl::OkStatus();
}

EventInput NexmarkProgram::input() const {
  EventInput input = input_;
  input.events.texts = format_ == Format::kLean ? query().texts : std::uint32_t{events::kAllTexts};
  input.events.rules = profile_ == Profile::kBeam     ? Rules::kBeam
                       : profile_ == Profile::kRenoir ? Rules::kRenoir
                                                      : Rules::kFlink;
  return input;
}

SuiteOptions NexmarkProgram::suite_options() const {
  SuiteOptions options{.allowed_lateness = input_.lateness()};
  if (profile_ == Profile::kOriginal) {
    options.hot_items_window = absl::Hours(1);
    options.hot_items_slide = absl::Minutes(1);
  } else if (profile_ == Profile::kBeam) {
    options.hot_items_slide = absl::Seconds(5);
  }
  if (profile_ == Profile::kOriginal || profile_ == Profile::kSlash) {
    options.highest_bid_window = absl::Minutes(1);
    options.new_users_window = absl::Hours(12);
  }
  options.one_hot_item = profile_ == Profile::kRenoir;
  options.any_price_until_the_end_wins = profile_ == Profile::kFlink;
  options.hot_items_window = window_.value_or(options.hot_items_window);
  options.hot_items_slide = slide_.value_or(options.hot_items_slide);
  options.highest_bid_window = window_.value_or(options.highest_bid_window);
  options.new_users_window = window_.value_or(options.new_users_window);
  options.session_gap = window_.value_or(options.session_gap);
  options.processing_time_window = window_.value_or(options.processing_time_window);
  options.read_times = read_times_;
  files_.AddTo(options);
  return options;
}

absl::StatusOr<std::unique_ptr<engine::Query>> NexmarkProgram::Build(const engine::EngineOptions& options,
                                                                     std::uint32_t executor_count,
                                                                     engine::FileClaims& claims, const Watch& watch) {
  const EventInput input = this->input();
  const std::uint32_t reader_count = options.cluster.roles().reader_count();
  const bool as_loop = options.cluster.engine == engine::EngineChoice::kLoop;
  if (absl::Status status = as_loop ? CheckLoop() : absl::OkStatus(); !status.ok()) {
    return status;
  }
  if (absl::Status status = files_.Load(claims, watch); !status.ok()) {
    return status;
  }
  generator_ = std::make_shared<const events::EventGenerator>(input.events, reader_count);
  if (engine::WholeFile* const file = claims.FileOf("export-input")) {
    if (absl::Status status = ExportEvents(*file, *generator_, input.records, reader_count, watch); !status.ok()) {
      return status;
    }
  }
  lines_ = std::make_shared<engine::RetainedLines>(static_cast<std::int64_t>(most_line_bytes(reader_count)));
  lines_->by_executor.resize(executor_count);
  if (const std::uint64_t most = most_read_times(reader_count); options.output.verify && most != 0) {
    const std::uint32_t first = options.cluster.rank.value_or(0) * options.cluster.executors;
    read_times_ = std::make_shared<ReadTimes>(most, ExecutorId{first});
  }
  if (options.cluster.rank.value_or(0) == 0) {
    std::cout << "events "
              << (input.generate == Generate::kLive ? "made while the run reads them"
                                                    : "made into memory before the run")
              << (format_ == Format::kLean ? ", without texts that the query does not read" : ", with all texts")
              << "\n";
  }
  const Events events = SourceOf(input, generator_);
  const engine::Results results(options.output.output, options.output.verify ? lines_ : nullptr);
  return as_loop ? query().loop(events, suite_options(), MostIdsOf(input), results)
                 : query().build(events, suite_options(), results);
}

std::uint64_t NexmarkProgram::most_read_times(std::uint32_t reader_count) const {
  constexpr std::uint64_t kMost = kMostVerifyRowBytes / sizeof(ReadBid);
  if (query().name != "q12") {
    return 0;
  }
  return input_.seconds != absl::ZeroDuration() || input_.records > kMost / reader_count
             ? kMost
             : input_.records * reader_count;
}

std::uint64_t NexmarkProgram::most_line_bytes(std::uint32_t reader_count) const {
  return input_.seconds != absl::ZeroDuration()
             ? kMostVerifyRowBytes
             : MostLineBytes(input_, reader_count, (query().texts & events::kAuctionTexts) != 0);
}

std::uint64_t NexmarkProgram::verify_memory_bytes(std::uint32_t reader_count) const {
  // The rows that all executors have emitted, and those that they have to emit: an executor's after another's, or all.
  return most_line_bytes(reader_count) + most_line_bytes(query().emitter == Emitter::kReader ? 1 : reader_count) +
         2 * sizeof(ReadBid) * most_read_times(reader_count);  // a growing vector is half empty at worst
}

absl::StatusOr<std::string> NexmarkProgram::CheckNode(const engine::RunFacts& facts, const Watch& watch) {
  const EventFlows flows{
      .generator = generator_.get(),
      .records_read = facts.records_read,
      .watermark_every = input_.events.disorder_group == 1 ? 1 : input_.watermark_every,
      .allowed_lateness_ms = absl::ToInt64Milliseconds(input_.lateness()),
      .watch = watch,
  };
  const Verdict verdict = CheckLines(query(), flows, suite_options(), facts, lines_->by_executor);
  return verdict.status.ok() ? absl::StatusOr<std::string>(EncodeTotals(verdict)) : verdict.status;
}

absl::Status NexmarkProgram::CheckRun(std::span<const std::string> nodes) {
  return CheckAllTotals(std::string(query().name), nodes);
}

}  // namespace glaive::queries::nexmark::suite
