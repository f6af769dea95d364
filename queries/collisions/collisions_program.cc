#include "queries/collisions/collisions_program.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/cluster/line_check.h"
#include "engine/source/block_source.h"
#include "queries/collisions/collision_csv.h"
#include "queries/collisions/collisions_oracle.h"
#include "queries/collisions/generator.h"
#include "queries/common/leader_rows.h"
#include "queries/common/result_row.h"

namespace glaive::queries::collisions {
namespace {

struct QuestionNames {
  std::string_view name;
  std::string_view rows;
};
constexpr std::array<QuestionNames, kQuestions> kNames = {
    {{"weeks", "the lethal accidents of each week"},
     {"factors", "the accidents of each contributing factor, and how many percent of them were lethal"},
     {"boroughs", "the accidents of each borough and week, and the borough's mean of lethal accidents a week"}}};

constexpr std::int64_t kMostLineBytesOfFiles = std::int64_t{64} << 20;
constexpr std::int64_t kMostLineBytesGenerated = std::int64_t{4} << 20;  // of some 2,600 rows

std::string OutputFlag(std::size_t question) { return absl::StrCat(std::string(kNames[question].name), "-output"); }

/// The rows of a question as totals; `question` tells those of another one from them.
Totals TotalsOf(std::size_t question, const std::vector<std::string>& lines) {
  Totals totals;
  for (const std::string& line : lines) {
    totals.AddOf(/*window_hash=*/question, /*key=*/0, TextBits(line));
  }
  return totals;
}

absl::Status ExportCollisions(engine::WholeFile& file, std::uint64_t seed, std::uint64_t records, const Watch& watch) {
  constexpr std::uint64_t kAtOnce = 1024;
  const CollisionGenerator generator(seed);
  absl::Status status = file.Write(PublishedHeader());
  for (std::uint64_t first = 0; first < records && status.ok(); first += kAtOnce) {
    std::string lines;
    for (std::uint64_t number = first; number < std::min(records, first + kAtOnce); ++number) {
      AppendPublished(generator.Make(number), lines);
    }
    status = file.Write(lines);
    status.Update(watch());
  }
  return status.ok() ? file.Commit() : status;
}

}  // namespace

std::string CollisionsProgram::summary() const {
  std::string summary =
      "Three questions about the motor vehicle collisions of New York City, generated or read from the city's files.";
  for (const QuestionNames& question : kNames) {
    absl::StrAppend(&summary, "\n  --question=", std::string(question.name), ": ", std::string(question.rows));
  }
  return summary;
}

void CollisionsProgram::RegisterFlags(engine::FlagSet& flags) {
  const std::string group = absl::StrCat("Query (", name(), ")");
  std::vector<std::pair<std::string, std::size_t>> questions = {{"all", kQuestions}};
  for (std::size_t question = 0; question < kQuestions; ++question) {
    questions.emplace_back(kNames[question].name, question);
  }
  flags.AddChoice({.name = "question",
                   .group = group,
                   .help = "which question to answer; the rows of a single one go to --output, and those of all, "
                           "which are answered in one pass, to a file for each"},
                  question_, questions);
  for (std::size_t question = 0; question < kQuestions; ++question) {
    flags.AddString({.name = OutputFlag(question),
                     .group = group,
                     .help = absl::StrCat("CSV file, with --question=all, of ", std::string(kNames[question].rows)),
                     .file = engine::FileUse::kWriteParts},
                    outputs_[question], "FILE");
  }
  const std::string input = "Input";
  flags.AddInteger({.name = "records", .group = input, .help = "collisions in memory for each executor that reads"},
                   records_, {.min = 1, .max = 1'000'000'000'000});
  flags.AddInteger({.name = "seed", .group = input, .help = "the input is a function of it and the record's number"},
                   seed_);
  flags.AddString({.name = "export-input",
                   .group = input,
                   .help = "writes the collisions of all executors to a CSV file, as the city publishes it, before "
                           "the run",
                   .file = engine::FileUse::kWrite},
                  export_input_, "FILE");
  RegisterFileFlags(flags, files_, "the CSV files \"Motor Vehicle Collisions - Crashes\" of New York");
  flags.AddCheck([this, &flags] { return CheckFlags(flags); });
}

absl::Status CollisionsProgram::CheckFlags(const engine::FlagSet& flags) const {
  const auto wrong = [](const std::string& text) { return absl::InvalidArgumentError(text); };
  if (asks_all() && flags.WasGiven("output")) {
    return wrong(
        "--output takes the rows of one --question: say which, or take --weeks-output, --factors-output and "
        "--boroughs-output, which go with all");
  }
  for (std::size_t question = 0; question < kQuestions; ++question) {
    if (!asks_all() && !outputs_[question].empty()) {
      return wrong(absl::StrCat("--", OutputFlag(question), " goes with --question=all; the rows of --question=",
                                std::string(kNames[question_].name), " go to --output"));
    }
  }
  constexpr std::array<std::string_view, 3> kOfGenerated = {"records", "seed", "export-input"};
  return CheckFileFlags(flags, files_, kOfGenerated);
}

absl::StatusOr<engine::SourceSpec<Collision, engine::NoEventTime>> CollisionsProgram::MakeSource(
    const engine::EngineOptions& options) {
  if (!files_.input.empty()) {
    absl::StatusOr<std::vector<engine::ListedFile>> files = FindFiles(files_, options);
    if (!files.ok()) {
      return files.status();
    }
    listed_ = *std::move(files);
    return CollisionFiles(listed_, {.on_bad_record = files_.on_bad_record});
  }
  const engine::BlockSourceOptions block{.block_records = records_, .total_records = records_};
  const auto open = [block, seed = seed_](const engine::SourceContext& context) {
    const CollisionGenerator generator(seed);
    const std::uint64_t first_of_executor = Value(context.executor) * block.block_records;
    const auto generate = [&](std::uint64_t first, std::span<Collision> records) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        records[i] = RecordOf(generator.Make(first_of_executor + first + i));
      }
    };
    return engine::BlockSource<Collision, engine::NoEventTime>::Create(block, *context.clock, generate, {},
                                                                       context.watch);
  };
  constexpr std::uint64_t kMostTextBytes = 64;  // of a record, on average
  return engine::SourceSpec<Collision, engine::NoEventTime>{
      .open = open, .event_time_ms = {}, .memory_bytes = records_ * (sizeof(Collision) + kMostTextBytes)};
}

Answers CollisionsProgram::MakeAnswers(const engine::EngineOptions& options, std::uint32_t executor_count) {
  Answers answers;
  for (std::size_t question = 0; question < kQuestions; ++question) {
    if (!asks(question)) {
      continue;
    }
    if (options.output.verify) {
      lines_[question] = std::make_shared<engine::RetainedLines>(most_line_bytes());
      lines_[question]->by_executor.resize(executor_count);
    }
    answers[question].emplace(asks_all() ? outputs_[question] : options.output.output, lines_[question]);
  }
  return answers;
}

absl::StatusOr<std::unique_ptr<engine::Query>> CollisionsProgram::Build(const engine::EngineOptions& options,
                                                                        std::uint32_t executor_count,
                                                                        engine::FileClaims& claims,
                                                                        const Watch& watch) {
  if (options.output.verify && files_.on_bad_record == engine::OnBadRecord::kSkip) {
    return absl::InvalidArgumentError(
        "--verify reads every line of the files, so it does not go with --on-bad-record=skip");
  }
  if (engine::WholeFile* const file = claims.FileOf("export-input")) {
    const std::uint32_t reader_count = options.cluster.roles().reader_count();
    if (absl::Status status = ExportCollisions(*file, seed_, records_ * reader_count, watch); !status.ok()) {
      return status;
    }
  }
  const auto source = MakeSource(options);
  if (!source.ok()) {
    return source.status();
  }
  return BuildCollisions(*source, MakeAnswers(options, executor_count));
}

std::int64_t CollisionsProgram::most_line_bytes() const {
  return files_.input.empty() ? kMostLineBytesGenerated : kMostLineBytesOfFiles;
}

std::uint64_t CollisionsProgram::verify_memory_bytes(std::uint32_t /*reader_count*/) const {
  // The rows that were emitted, those of them that are compared, and the counts and rows that are expected.
  return (asks_all() ? kQuestions : 1) * 4 * static_cast<std::uint64_t>(most_line_bytes());
}

absl::StatusOr<std::string> CollisionsProgram::CheckNode(const engine::RunFacts& facts, const Watch& watch) {
  CollisionTally tally;
  absl::Status status;
  if (files_.input.empty()) {
    status = TallyGenerated(seed_, records_ * facts.records_read.size(), tally, watch);
  } else {
    std::vector<std::string> paths;
    for (const engine::ListedFile& file : listed_) {
      paths.push_back(file.path);
    }
    status = TallyFiles(paths, tally, watch);
  }
  Verdict verdict;
  for (std::size_t question = 0; question < kQuestions && status.ok(); ++question) {
    if (!asks(question)) {
      continue;
    }
    std::vector<std::string> expected = tally.Lines(static_cast<Question>(question));
    std::vector<std::string> emitted;
    for (const ExecutorId executor : facts.executors) {
      std::ranges::copy(lines_[question]->by_executor[Value(executor)], std::back_inserter(emitted));
    }
    status = engine::CompareLines(expected, emitted, facts.all_are_here());
    if (!status.ok()) {
      status = absl::DataLossError(absl::StrCat(name(), " results of --question=", std::string(kNames[question].name),
                                                " are wrong: ", std::string(status.message())));
    }
    verdict.expected.Merge(TotalsOf(question, expected));
    verdict.emitted.Merge(TotalsOf(question, emitted));
  }
  if (!status.ok()) {
    return status;
  }
  return EncodeTotals(verdict);
}

absl::Status CollisionsProgram::CheckRun(std::span<const std::string> nodes) { return CheckAllTotals(name(), nodes); }

}  // namespace glaive::queries::collisions
