#include "queries/wordcount/wordcount_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "queries/common/generated_source.h"
#include "queries/common/input_export.h"
#include "queries/common/leader_rows.h"
#include "queries/common/verify_memory.h"
#include "queries/loops/loop_query.h"
#include "queries/wordcount/generator.h"
#include "queries/wordcount/word_loop.h"
#include "queries/wordcount/word_table.h"

namespace glaive::queries::wordcount {
namespace {

/// What --verify holds of a row besides the row itself: its word, in two containers.
constexpr std::uint64_t kBytesOfWord = 128;
/// Distinct words of a byte of a file: compressed numbers in a row have that many.
constexpr double kMostRowsOfByte = 0.5;
/// Bytes of text of a byte of a compressed file, at most: deflate has no shorter code.
constexpr double kMostExpansion = 1032;

/// Count windows have more rows than there are distinct words: as many as words, at most.
double ExpansionOf(Form form, const engine::ListedFile& file) {
  return form == Form::kCountWindow && file.path.ends_with(".gz") ? kMostExpansion : 1;
}

}  // namespace

std::string WordcountProgram::summary() const {
  return "How often each word comes in lines of text, generated or read from files.\n"
         "  --form=associative: executors count the words that they read, and the counts are merged\n"
         "  --form=plain: each word moves to the executor that counts it   --form=windowed: counts of 10 s\n"
         "  --form=count-window: likewise, counts of ten times of each word, a new one every five times\n"
         "Generated text has --keys different words, which are as frequent as --key-distribution says.";
}

void WordcountProgram::RegisterFlags(engine::FlagSet& flags) {
  input_.records = 1'000'000;
  input_.keys = 100'000;
  input_.key_distribution = "zipf:1";
  const std::string group = absl::StrCat("Query (", name(), ")");
  flags.AddChoice(
      {.name = "form",
       .group = group,
       .help =
           "what moves, and what is counted: all of a word, windows of event time, which lines of files do not have, "
           "or windows of ten times of a word"},
      options_.form,
      {{"associative", Form::kAssociative},
       {"plain", Form::kPlain},
       {"windowed", Form::kWindowed},
       {"count-window", Form::kCountWindow}});
  AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window of --form=windowed"},
                options_.window);
  RegisterInputFlags(flags, input_);
  RegisterFileFlags(flags, files_, "lines of text");
  flags.AddCheck([this, &flags] { return CheckFlags(flags); });
}

absl::Status WordcountProgram::CheckFlags(const engine::FlagSet& flags) const {
  if (absl::Status status = CheckFileFlags(flags, files_); !status.ok()) {
    return status;
  }
  if (options_.form != Form::kWindowed && flags.WasGiven("window")) {
    return absl::InvalidArgumentError("--window goes with --form=windowed alone");
  }
  if (!files_.input.empty() && options_.form == Form::kWindowed) {
    return absl::InvalidArgumentError(
        "--form=windowed counts by event time, which lines of files do not have; leave it out with --input");
  }
  if (!files_.input.empty() && !input_.export_input.empty()) {
    return absl::InvalidArgumentError("--export-input writes generated lines; leave it out with --input");
  }
  return Validate(MakeInput(input_, window_ms()));
}

std::int64_t WordcountProgram::window_ms() const { return absl::ToInt64Milliseconds(options_.window); }

absl::StatusOr<std::unique_ptr<engine::Query>> WordcountProgram::Build(const engine::EngineOptions& options,
                                                                       std::uint32_t executor_count,
                                                                       engine::FileClaims& claims, const Watch& watch) {
  const bool as_loop = options.cluster.engine == engine::EngineChoice::kLoop;
  if (as_loop) {
    absl::Status status = CheckLoopInput(input_, !files_.input.empty());
    if (options_.form != Form::kAssociative) {
      status.Update(absl::InvalidArgumentError("--engine=loop goes with --form=associative"));
    }
    if (!status.ok()) {
      return status;
    }
  }
  const std::uint32_t reader_count = options.cluster.roles().reader_count();
  const std::shared_ptr<const LineGenerator> generator =
      std::make_shared<const LineGenerator>(MakeInput(input_, window_ms()));
  if (engine::WholeFile* const file = claims.FileOf(kExportInputFlag)) {
    absl::Status status = ExportRecords(
        *file, *generator, TextLineTime{}, ReadRecords(input_, reader_count), "text",
        [](std::string& line, const TextLine& record) {
          absl::StrAppend(&line, "\"", std::string(record.text()), "\"");  // no line has a quote
        },
        watch);
    if (!status.ok()) {
      return status;
    }
  }
  if (!files_.input.empty()) {
    absl::StatusOr<std::vector<engine::ListedFile>> files = FindFiles(files_, options);
    if (!files.ok()) {
      return files.status();
    }
    listed_ = *std::move(files);
  }
  sinks_.emplace(ResultSinksOptions{.output = options.output.output,
                                    .retain = options.output.verify,
                                    .max_rows = VerifyRowBytes(most_rows(reader_count)) / kVerifyBytesPerRow},
                 executor_count);
  if (files_.input.empty()) {
    const auto lines = GeneratedSource<TextLine, TextLineTime>(generator, input_, MakeBlock(input_, window_ms()));
    if (as_loop) {
      using Loop = WordLoop<WordView>;
      const std::uint64_t words = std::min(input_.keys, input_.records * kMostWordsOfLine);
      return LoopQueryOver(lines, Loop::MemoryBytes(words), [words] { return Loop::Create(words); }, *sinks_);
    }
    WordcountOptions form = options_;
    form.allowed_lateness = absl::Milliseconds(input_.allowed_lateness_ms());
    return BuildWordcount(form, lines, *sinks_);
  }
  return BuildWordcountOfFiles(options_.form, listed_,
                               {.on_bad_record = files_.on_bad_record, .watermark_every = input_.watermark_every},
                               *sinks_);
}

double WordcountProgram::most_rows(std::uint32_t reader_count) const {
  if (!files_.input.empty()) {
    double bytes = 0;
    for (const engine::ListedFile& file : listed_) {
      bytes += ExpansionOf(options_.form, file) * static_cast<double>(file.bytes);
    }
    return kMostRowsOfByte * bytes + 1000;
  }
  if (input_.seconds != absl::ZeroDuration() && options_.form == Form::kWindowed) {
    return static_cast<double>(kMostVerifyRowBytes);
  }
  const double words =
      static_cast<double>(reader_count) * static_cast<double>(input_.records) * double{kMostWordsOfLine};
  const double disorder_ms = absl::ToDoubleMilliseconds(input_.disorder);
  const double span_ms = static_cast<double>(MakeBlock(input_, window_ms()).span_ms) + disorder_ms;
  const double windows = options_.form == Form::kWindowed ? span_ms / static_cast<double>(window_ms()) + 2 : 1;
  if (options_.form == Form::kCountWindow) {
    return words / double{kCountWindowSlide} + static_cast<double>(input_.keys) + 1000;
  }
  return std::min(words, windows * static_cast<double>(input_.keys)) + 1000;
}

std::uint64_t WordcountProgram::verify_memory_bytes(std::uint32_t reader_count) const {
  const std::uint64_t row_bytes = VerifyRowBytes(most_rows(reader_count));
  return row_bytes + row_bytes / kVerifyBytesPerRow * kBytesOfWord;
}

absl::StatusOr<WordCounts> WordcountProgram::Recount(const engine::RunFacts& facts, const Watch& watch) const {
  if (!files_.input.empty()) {
    std::vector<std::string> paths;
    for (const engine::ListedFile& file : listed_) {
      paths.push_back(file.path);
    }
    return CountWordsOfFiles(paths, watch);
  }
  const LineGenerator generator(MakeInput(input_, window_ms()));
  const engine::BlockSourceOptions block = MakeBlock(input_, window_ms());
  const CheckedInput<TextLine> input{.generator = &generator,
                                     .event_time_ms = TextLineTime{},
                                     .record_counts = facts.records_read,
                                     .block_records = block.block_records,
                                     .block_span_ms = block.span_ms,
                                     .watermark_every = input_.watermark_every,
                                     .allowed_lateness_ms = input_.allowed_lateness_ms()};
  return CountGeneratedWords(input, checked_window_ms(), watch);
}

absl::StatusOr<std::string> WordcountProgram::CheckNode(const engine::RunFacts& facts, const Watch& watch) {
  const absl::StatusOr<LeaderRows> rows = RowsOfLeaders(name(), sinks_->retained(), facts, Keys::kNone);
  if (!rows.ok()) {
    return rows.status();
  }
  const absl::StatusOr<WordCounts> counts = Recount(facts, watch);
  if (!counts.ok()) {
    return counts.status();
  }
  const auto leads = [&](const std::string& word) {
    return std::ranges::count(facts.executors, facts.roles.leaders().Of(facts.key_hash(Text(word)))) > 0;
  };
  const Verdict verdict =
      options_.form == Form::kCountWindow
          ? CheckCountWindows(name(), *counts, kCountWindowSize, kCountWindowSlide, rows->rows, leads)
          : CheckWords(name(), *counts, checked_window_ms(), rows->rows, leads);
  if (!verdict.status.ok()) {
    return verdict.status;
  }
  return EncodeTotals(verdict);
}

absl::Status WordcountProgram::CheckRun(std::span<const std::string> nodes) { return CheckAllTotals(name(), nodes); }

}  // namespace glaive::queries::wordcount
