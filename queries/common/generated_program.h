// GeneratedProgram: what the programs of all queries over generated input have in common: the flags of the input, the
// source that reads it from memory, the sinks, --export-input and --verify. A query adds the rest:
//
//   class Nb7Program final : public GeneratedProgram<Bid, BidTime> {
//     Shape shape() const override { return {.window_ms = ...}; }
//     std::unique_ptr<Generator<Bid>> MakeGenerator(const InputOptions& input) const override;
//     std::unique_ptr<engine::Query> BuildQuery(Events bids, const ResultSinks& sinks) const override;
//     Verdict Recompute(const Recomputation<Bid>& run) const override;
//     ...
//   };
//
// Results have one integer key and one value (ResultRow). All calls come from the main thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/cluster/query_program.h"
#include "engine/source/block_source.h"
#include "engine/source/input_files.h"
#include "engine/source/line_source.h"
#include "queries/common/file_flags.h"
#include "queries/common/generated_source.h"
#include "queries/common/input_export.h"
#include "queries/common/input_flags.h"
#include "queries/common/leader_rows.h"
#include "queries/common/oracle.h"
#include "queries/common/result_sinks.h"
#include "queries/common/verify_memory.h"
#include "rdma/base/check.h"
#include "rdma/base/watch.h"

namespace glaive::queries {

/// A check of one node's rows: the oracle, and what it is to be asked for.
template <typename R>
class Recomputation {
 public:
  Recomputation(const Oracle<R>& oracle, const LeaderRows& rows, Watch watch)
      : oracle_(&oracle), rows_(&rows), watch_(std::move(watch)) {}

  /// See Oracle::Check.
  template <typename Account>
  Verdict As(const typename Oracle<R>::KeyOf& key_of) const {
    return oracle_->template Check<Account>(key_of, rows_->rows, rows_->leads, watch_);
  }

 private:
  const Oracle<R>* oracle_;
  const LeaderRows* rows_;
  Watch watch_;
};

/// `EventTime` is a stateless callable from `const R&` to milliseconds.
template <typename R, typename EventTime>
class GeneratedProgram : public engine::QueryProgram, public engine::RunCheck {
 public:
  void RegisterFlags(engine::FlagSet& flags) final {
    SetDefaults(input_);
    RegisterQueryFlags(flags, absl::StrCat("Query (", name(), ")"));
    RegisterInputFlags(flags, input_);
    if (!file_format().empty()) {
      RegisterFileFlags(flags, files_, file_format());
      flags.AddCheck([this, &flags] { return CheckFileFlags(flags, files_); });
    }
    flags.AddCheck([this] { return Validate(input_options()); });
  }

  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& options,
                                                       std::uint32_t executor_count, engine::FileClaims& claims,
                                                       const Watch& watch) final {
    const bool as_loop = options.cluster.engine == engine::EngineChoice::kLoop;
    if (as_loop) {
      absl::Status status = CheckLoopInput(input_, reads_files());
      status.Update(CheckLoop());
      if (!status.ok()) {
        return status;
      }
    }
    if (!files_.input.empty() && (options.output.verify || !input_.export_input.empty())) {
      return absl::InvalidArgumentError(
          "--verify and --export-input go with generated input; scripts/verify checks runs over files, too");
    }
    if (options.output.verify && holds_records() && input_.seconds != absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          "--verify of these windows holds all records, so it does not go with --seconds");
    }
    if (absl::Status status = LoadTables(watch); !status.ok()) {
      return status;
    }
    absl::Status status = ExportTables(claims);
    const std::uint32_t reader_count = options.cluster.roles().reader_count();
    if (engine::WholeFile* const file = claims.FileOf(kExportInputFlag); file != nullptr && status.ok()) {
      status = ExportInput(*file, reader_count, watch);
    }
    if (!status.ok()) {
      return status;
    }
    sinks_.emplace(ResultSinksOptions{.output = options.output.output,
                                      .retain = options.output.verify,
                                      .max_rows = verify_memory_bytes(reader_count) / kVerifyBytesPerRow},
                   executor_count);
    if (as_loop) {
      return BuildLoop(MakeSource(), std::min(input_.keys, input_.records), *sinks_);
    }
    if (files_.input.empty()) {
      return BuildQuery(MakeSource(), *sinks_);
    }
    const absl::StatusOr<std::vector<engine::ListedFile>> files = FindFiles(files_, options);
    if (!files.ok()) {
      return files.status();
    }
    return BuildQuery(
        ReadFiles(*files, {.on_bad_record = files_.on_bad_record, .watermark_every = input_.watermark_every}), *sinks_);
  }

  engine::RunCheck* check() final { return this; }

  std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const final {
    const double rows =
        static_cast<double>(reader_count) * (static_cast<double>(input_.records) + 1000) * shape().rows_a_record;
    const bool open_ended = input_.seconds != absl::ZeroDuration();
    const std::uint64_t row_bytes = open_ended ? kMostVerifyRowBytes : VerifyRowBytes(rows);
    return row_bytes + (holds_records() ? reader_count * input_.records * (sizeof(R) + kNodeBytes) : 0);
  }

  absl::StatusOr<std::string> CheckNode(const engine::RunFacts& facts, const Watch& watch) final {
    const absl::StatusOr<LeaderRows> rows =
        RowsOfLeaders(name(), sinks_->retained(), facts, shape().keyed ? Keys::kLed : Keys::kNone);
    if (!rows.ok()) {
      return rows.status();
    }
    const std::unique_ptr<Generator<R>> generator = MakeGenerator(input_options());
    const engine::BlockSourceOptions block = MakeBlock(input_, shape().window_ms);
    const CheckedInput<R> input{.generator = generator.get(),
                                .event_time_ms = EventTime{},
                                .record_counts = facts.records_read,
                                .block_records = block.block_records,
                                .block_span_ms = block.span_ms,
                                .watermark_every = input_.watermark_every,
                                .allowed_lateness_ms = input_.allowed_lateness_ms()};
    const Oracle<R> oracle(name(), input, shape().checked_windows());
    const Verdict verdict = Recompute(Recomputation<R>(oracle, *rows, watch));
    if (!verdict.status.ok()) {
      return verdict.status;
    }
    return EncodeTotals(verdict);
  }

  absl::Status CheckRun(std::span<const std::string> nodes) final { return CheckAllTotals(name(), nodes); }

 protected:
  using Events = engine::SourceSpec<R, EventTime>;

  /// The query's windows, and what follows from them.
  struct Shape {
    std::int64_t window_ms = 0;  // what the default event rate and repetitions of the input are made for
    std::int64_t slide_ms = 0;   // 0: the windows are tumbling
    CheckedWindows::Kind kind = CheckedWindows::Kind::kRegular;
    bool at_the_end = false;   // one result a key, for the whole stream
    bool keyed = true;         // else the query has no KeyBy, and any leader may emit a result
    double rows_a_record = 1;  // an upper bound, for the memory of --verify

    CheckedWindows checked_windows() const {
      return at_the_end ? CheckedWindows{} : CheckedWindows{window_ms, slide_ms == 0 ? window_ms : slide_ms, kind};
    }
  };

  /// Defaults other than those of InputFlags.
  virtual void SetDefaults(InputFlags& /*input*/) const {}
  virtual void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) = 0;
  virtual Shape shape() const = 0;
  virtual std::unique_ptr<Generator<R>> MakeGenerator(const InputOptions& input) const = 0;
  virtual std::unique_ptr<engine::Query> BuildQuery(const Events& events, const ResultSinks& sinks) const = 0;
  /// Whether there is a hand-written loop for the flags of the query; InvalidArgument says which flags have one.
  virtual absl::Status CheckLoop() const { return absl::OkStatus(); }
  /// The query as a hand-written loop (queries/loops) over events of at most so many keys, for programs that
  /// has_loop(). After CheckLoop.
  virtual std::unique_ptr<engine::Query> BuildLoop(const Events& /*events*/, std::uint64_t /*keys*/,
                                                   const ResultSinks& /*sinks*/) const {
    GLAIVE_CHECK(false, name(), " has no hand-written loop");
  }
  /// What the query has to emit, from its definition: `run.As<Account>(key_of)`.
  virtual Verdict Recompute(const Recomputation<R>& run) const = 0;
  /// A record's columns in --export-input, behind executor, number and event_time_ms: their names, and their values.
  virtual std::string column_names() const = 0;
  virtual void AppendColumns(std::string& line, const R& record) const = 0;

  /// What --input reads, for --help; empty: the query takes no files.
  virtual std::string file_format() const { return ""; }
  virtual Events ReadFiles(const std::vector<engine::ListedFile>& /*files*/,
                           const engine::LineSourceOptions& /*options*/) const {
    GLAIVE_CHECK(false, name(), " has no --input");
  }
  /// Reads what the query joins from files, if anything; on every node. `watch` may end it.
  virtual absl::Status LoadTables(const Watch& /*watch*/) { return absl::OkStatus(); }
  /// Writes what else a check needs, before the run, to the files that are claimed.
  virtual absl::Status ExportTables(engine::FileClaims& /*claims*/) const { return absl::OkStatus(); }

  bool reads_files() const { return !files_.input.empty(); }
  InputOptions input_options() const { return MakeInput(input_, shape().window_ms); }
  absl::Duration allowed_lateness() const { return absl::Milliseconds(input_.allowed_lateness_ms()); }

 private:
  static constexpr std::uint64_t kNodeBytes = 64;  // of a record's container

  /// Whether the oracle does (oracle.h).
  bool holds_records() const { return shape().kind != CheckedWindows::Kind::kRegular; }

  Events MakeSource() const {
    return GeneratedSource<R, EventTime>(MakeGenerator(input_options()), input_, MakeBlock(input_, shape().window_ms));
  }

  absl::Status ExportInput(engine::WholeFile& file, std::uint32_t reader_count, const Watch& watch) const {
    return ExportRecords(
        file, *MakeGenerator(input_options()), EventTime{}, ReadRecords(input_, reader_count), column_names(),
        [this](std::string& line, const R& record) { AppendColumns(line, record); }, watch);
  }

  InputFlags input_;
  FileFlags files_;
  std::optional<ResultSinks> sinks_;
};

}  // namespace glaive::queries
