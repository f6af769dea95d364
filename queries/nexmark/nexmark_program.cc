#include "queries/nexmark/nexmark_program.h"

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "queries/common/verify_memory.h"
#include "queries/nexmark/suite/line_check.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Rules;

constexpr std::uint32_t kTextsOfChannels = events::kChannel | events::kUrl;

/// The lines of some executors, each of a bid: its numbers, and the longest texts that it has.
std::uint64_t MostLineBytes(const EventInput& input, std::uint32_t executor_count) {
  constexpr double kMost = 0x1p60;  // beyond any memory
  constexpr double kNumbersAndUrl = 200;
  const double line = double{RetainedLines::kBytesOfLine} + kNumbersAndUrl + 1.2 * input.events.bid_bytes;
  return static_cast<std::uint64_t>(std::min(kMost, executor_count * static_cast<double>(input.records) * line));
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
  flags.AddChoice({.name = "profile",
                   .group = group,
                   .help = "whose events: Flink's suite, Apache Beam's, or the Rust crate's that Renoir reads"},
                  input_.events.rules, {{"flink", Rules::kFlink}, {"beam", Rules::kBeam}, {"renoir", Rules::kRenoir}});
  flags.AddChoice({.name = "format",
                   .group = group,
                   .help = "whether events have all of their texts, or those alone that the query reads"},
                  format_, {{"full", Format::kFull}, {"lean", Format::kLean}});
  RegisterEventInput(flags, input_);
  flags.AddCheck([this] { return CheckFlags(); });
}

const QueryDefinition& NexmarkProgram::query() const { return AllQueries()[query_]; }

absl::Status NexmarkProgram::CheckFlags() const {
  if (input_.events.rules == Rules::kBeam && (query().texts & kTextsOfChannels) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--query=", std::string(query().name),
                                                   " reads channels and URLs, which bids of --profile=beam do not "
                                                   "have; take the profile flink or renoir"));
  }
  return absl::OkStatus();
}

EventInput NexmarkProgram::input() const {
  EventInput input = input_;
  input.events.texts = format_ == Format::kLean ? query().texts : std::uint32_t{events::kAllTexts};
  return input;
}

absl::StatusOr<std::unique_ptr<engine::Query>> NexmarkProgram::Build(const engine::EngineOptions& options,
                                                                     std::uint32_t executor_count,
                                                                     engine::FileClaims& claims, const Watch& watch) {
  const EventInput input = this->input();
  generator_ = std::make_shared<const events::EventGenerator>(input.events, executor_count);
  if (engine::WholeFile* const file = claims.FileOf("export-input")) {
    if (absl::Status status = ExportEvents(*file, *generator_, input.records, executor_count, watch); !status.ok()) {
      return status;
    }
  }
  sinks_.emplace(RowSinksOptions{.output = options.output.output,
                                 .retain = options.output.verify,
                                 .most_bytes = most_line_bytes(executor_count)},
                 executor_count);
  if (options.cluster.rank.value_or(0) == 0) {
    std::cout << "events "
              << (input.generate == Generate::kLive ? "made while the run reads them"
                                                    : "made into memory before the run")
              << (format_ == Format::kLean ? ", without texts that the query does not read" : ", with all texts")
              << "\n";
  }
  return query().build(SourceOf(input, generator_), *sinks_);
}

std::uint64_t NexmarkProgram::most_line_bytes(std::uint32_t executor_count) const {
  return input_.seconds != absl::ZeroDuration() ? kMostVerifyRowBytes : MostLineBytes(input_, executor_count);
}

std::uint64_t NexmarkProgram::verify_memory_bytes(std::uint32_t executor_count) const {
  // What one executor has to emit is beside what all have emitted.
  return most_line_bytes(executor_count) + most_line_bytes(1);
}

absl::StatusOr<std::string> NexmarkProgram::CheckNode(const engine::RunFacts& facts, const Watch& watch) {
  const EventFlows flows{.generator = generator_.get(), .records_read = facts.records_read, .watch = watch};
  for (const ExecutorId executor : facts.leaders) {
    std::vector<std::string> expected;
    absl::Status status = query().recompute(flows.Of(Value(executor)),
                                            [&expected](std::string line) { expected.push_back(std::move(line)); });
    if (status.ok()) {
      status = CompareLines(std::string(query().name), sinks_->TakeLines(Value(executor)), std::move(expected));
    }
    if (!status.ok()) {
      return status;
    }
  }
  return "";
}

absl::Status NexmarkProgram::CheckRun(std::span<const std::string> /*nodes*/) {
  return absl::OkStatus();  // each executor's rows follow from its own events
}

}  // namespace glaive::queries::nexmark::suite
