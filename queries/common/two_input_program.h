// TwoInputProgram: what the programs of all queries that join two generated inputs have in common, as GeneratedProgram
// is for queries over one: the flags of the input, a source for each side, the sinks, --export-input for the left
// side's records and a flag like it for the right side's, and --verify. A query adds the rest:
//
//   class Nb8Program final : public TwoInputProgram<Auction, AuctionTime, Seller, SellerTime> {
//     Shape shape() const override { return {.windows = ..., .kind = JoinKind::kInner}; }
//     std::unique_ptr<Generator<Auction>> MakeLeft(const InputOptions& input) const override;
//     std::unique_ptr<Generator<Seller>> MakeRight(const InputOptions& input) const override;
//     std::unique_ptr<engine::Query> BuildQuery(Lefts auctions, Rights sellers,
//                                               const ResultSinks& sinks) const override;
//     Verdict Recompute(const JoinRecomputation<Auction, Seller>& run) const override;
//     ...
//   };
//
// How the flags describe both sides: input_sides.h. A run without --seconds reads all records of both sides, so what
// has been read follows from the flags. All calls come from the main thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/cluster/query_program.h"
#include "queries/common/generated_source.h"
#include "queries/common/input_export.h"
#include "queries/common/input_flags.h"
#include "queries/common/input_sides.h"
#include "queries/common/join_oracle.h"
#include "queries/common/leader_rows.h"
#include "queries/common/result_sinks.h"
#include "queries/common/verify_memory.h"
#include "rdma/base/check.h"
#include "rdma/base/watch.h"

namespace glaive::queries {

/// A check of one node's rows: the inputs of a join, and what is to be checked.
template <typename L, typename R>
class JoinRecomputation {
 public:
  JoinRecomputation(std::string query, JoinKind kind, CheckedWindows windows, CheckedInput<L> left,
                    CheckedInput<R> right, const LeaderRows& rows, Watch watch)
      : query_(std::move(query)),
        kind_(kind),
        windows_(windows),
        left_(std::move(left)),
        right_(std::move(right)),
        rows_(&rows),
        watch_(std::move(watch)) {}

  /// Of each side the key of a record, and what the rows have of it; see JoinOracle::Check.
  template <typename KeyL, typename KeepL, typename KeyR, typename KeepR>
  Verdict As(const KeyL& left_key, const KeepL& keep_left, const KeyR& right_key, const KeepR& keep_right) const {
    using KeptL = std::invoke_result_t<KeepL, const L&>;
    using KeptR = std::invoke_result_t<KeepR, const R&>;
    const JoinOracle<L, KeptL, R, KeptR> oracle(query_, kind_, windows_, {left_, left_key, keep_left},
                                                {right_, right_key, keep_right});
    return oracle.Check(rows_->rows, rows_->leads, watch_);
  }

 private:
  std::string query_;
  JoinKind kind_;
  CheckedWindows windows_;
  CheckedInput<L> left_;
  CheckedInput<R> right_;
  const LeaderRows* rows_;
  Watch watch_;
};

/// `TimeL` and `TimeR` are stateless callables from a record to milliseconds.
template <typename L, typename TimeL, typename R, typename TimeR>
class TwoInputProgram : public engine::QueryProgram, public engine::RunCheck {
 public:
  void RegisterFlags(engine::FlagSet& flags) final {
    SetDefaults(input_);
    RegisterQueryFlags(flags, absl::StrCat("Query (", name(), ")"));
    RegisterInputFlags(flags, input_);
    flags.AddString({.name = export_right_flag(),
                     .group = "Input",
                     .help = absl::StrCat("writes the ", right_name(),
                                          " of all executors to a CSV file before the run; --export-input writes the ",
                                          left_name(), " alone"),
                     .file = engine::FileUse::kWrite},
                    export_right_, "FILE");
    flags.AddCheck([this]() -> absl::Status {
      if (absl::Status status = CheckSides(input_); !status.ok()) {
        return status;
      }
      if (!export_right_.empty() && input_.seconds != absl::ZeroDuration()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", export_right_flag(), " does not go with --seconds: the input has no end beforehand"));
      }
      absl::Status status = Validate(sides().left.options);
      status.Update(Validate(sides().right.options));
      return status;
    });
  }

  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& options,
                                                       std::uint32_t executor_count, engine::FileClaims& claims,
                                                       const Watch& watch) final {
    const bool as_loop = options.cluster.engine == engine::EngineChoice::kLoop;
    if (as_loop) {
      absl::Status status = CheckLoopInput(input_, /*reads_files=*/false);
      status.Update(CheckLoop(input_));
      if (!status.ok()) {
        return status;
      }
    }
    if (options.output.verify && input_.seconds != absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          "--verify of a join holds all records, so it does not go with --seconds: give --records alone");
    }
    const std::uint32_t reader_count = options.cluster.roles().reader_count();
    if (absl::Status status = ExportInputs(claims, reader_count, watch); !status.ok()) {
      return status;
    }
    sinks_.emplace(ResultSinksOptions{.output = options.output.output,
                                      .retain = options.output.verify,
                                      .max_rows = row_bytes(reader_count) / kVerifyBytesPerRow},
                   executor_count);
    const InputSides both = sides();
    const Lefts lefts = GeneratedSource<L, TimeL>(MakeLeft(both.left.options), both.left.flags, both.left.block);
    const Rights rights = GeneratedSource<R, TimeR>(MakeRight(both.right.options), both.right.flags, both.right.block);
    if (as_loop) {
      return BuildLoop(lefts, rights, both, *sinks_);
    }
    return BuildQuery(lefts, rights, *sinks_);
  }

  engine::RunCheck* check() final { return this; }

  std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const final {
    return row_bytes(reader_count) + reader_count * input_.records * kHeldRecordBytes;
  }

  absl::StatusOr<std::string> CheckNode(const engine::RunFacts& facts, const Watch& watch) final {
    const absl::StatusOr<LeaderRows> rows = RowsOfLeaders(name(), sinks_->retained(), facts);
    if (!rows.ok()) {
      return rows.status();
    }
    const InputSides both = sides();
    const std::uint32_t readers = facts.roles.reader_count();
    const std::unique_ptr<Generator<L>> lefts = MakeLeft(both.left.options);
    const std::unique_ptr<Generator<R>> rights = MakeRight(both.right.options);
    const CheckedInput<L> left = Checked<L, TimeL>(both.left, *lefts, readers);
    const CheckedInput<R> right = Checked<R, TimeR>(both.right, *rights, readers);
    for (std::uint32_t reader = 0; reader < readers; ++reader) {
      const std::uint64_t all = left.record_counts[reader] + right.record_counts[reader];
      if (facts.records_read[reader] != all) {
        return absl::DataLossError(absl::StrCat(name(), ": reader ", reader, " has read ", facts.records_read[reader],
                                                " of its ", all, " records"));
      }
    }
    const Verdict verdict =
        Recompute(JoinRecomputation<L, R>(name(), shape().kind, shape().windows, left, right, *rows, watch));
    if (!verdict.status.ok()) {
      return verdict.status;
    }
    return EncodeTotals(verdict);
  }

  absl::Status CheckRun(std::span<const std::string> nodes) final { return CheckAllTotals(name(), nodes); }

 protected:
  using Lefts = engine::SourceSpec<L, TimeL>;
  using Rights = engine::SourceSpec<R, TimeR>;

  /// The join's windows, of a size that the default event rate and repetitions of the input are made for, and its kind.
  struct Shape {
    CheckedWindows windows = {};
    JoinKind kind = JoinKind::kInner;
  };

  /// Defaults other than those of InputFlags.
  virtual void SetDefaults(InputFlags& /*input*/) const {}
  virtual void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) = 0;
  virtual Shape shape() const = 0;
  /// What the sides' records are called, in the plural: as in the flag --export-<right_name()>.
  virtual std::string left_name() const = 0;
  virtual std::string right_name() const = 0;
  virtual std::unique_ptr<Generator<L>> MakeLeft(const InputOptions& input) const = 0;
  virtual std::unique_ptr<Generator<R>> MakeRight(const InputOptions& input) const = 0;
  virtual std::unique_ptr<engine::Query> BuildQuery(const Lefts& lefts, const Rights& rights,
                                                    const ResultSinks& sinks) const = 0;
  /// Whether there is a hand-written loop for the flags; InvalidArgument says which flags have one.
  virtual absl::Status CheckLoop(const InputFlags& /*input*/) const { return absl::OkStatus(); }
  /// The query as a hand-written loop (queries/loops) over both sides, for programs that has_loop(). After CheckLoop.
  virtual std::unique_ptr<engine::Query> BuildLoop(const Lefts& /*lefts*/, const Rights& /*rights*/,
                                                   const InputSides& /*sides*/, const ResultSinks& /*sinks*/) const {
    GLAIVE_CHECK(false, name(), " has no hand-written loop");
  }
  /// What the query has to emit, from its definition: `run.As(key, keep, key, keep)`.
  virtual Verdict Recompute(const JoinRecomputation<L, R>& run) const = 0;
  /// A record's columns in the exported files, behind executor, number and event_time_ms: their names, and their
  /// values.
  virtual std::string left_column_names() const = 0;
  virtual void AppendLeftColumns(std::string& line, const L& record) const = 0;
  virtual std::string right_column_names() const = 0;
  virtual void AppendRightColumns(std::string& line, const R& record) const = 0;

  absl::Duration allowed_lateness() const { return absl::Milliseconds(input_.allowed_lateness_ms()); }

 private:
  std::string export_right_flag() const { return absl::StrCat("export-", right_name()); }
  InputSides sides() const { return MakeSides(input_, shape().windows.size_ms); }

  template <typename Record, typename Time>
  static CheckedInput<Record> Checked(const InputSide& side, const Generator<Record>& generator,
                                      std::uint32_t reader_count) {
    return {.generator = &generator,
            .event_time_ms = Time{},
            .record_counts = ReadRecords(side.flags, reader_count),
            .watermark_every = side.flags.watermark_every,
            .allowed_lateness_ms = side.flags.allowed_lateness_ms()};
  }

  absl::Status ExportInputs(engine::FileClaims& claims, std::uint32_t reader_count, const Watch& watch) const {
    const InputSides both = sides();
    absl::Status status;
    if (engine::WholeFile* const file = claims.FileOf(kExportInputFlag)) {
      status = ExportRecords(
          *file, *MakeLeft(both.left.options), TimeL{}, ReadRecords(both.left.flags, reader_count), left_column_names(),
          [this](std::string& line, const L& record) { AppendLeftColumns(line, record); }, watch);
    }
    if (engine::WholeFile* const file = claims.FileOf(export_right_flag()); file != nullptr && status.ok()) {
      status = ExportRecords(
          *file, *MakeRight(both.right.options), TimeR{}, ReadRecords(both.right.flags, reader_count),
          right_column_names(), [this](std::string& line, const R& record) { AppendRightColumns(line, record); },
          watch);
    }
    return status;
  }

  /// The memory for the rows of --verify: for twice the rows that keys give which are uniform on the right side. A key
  /// that is frequent on the left may have more records on the right than expected, by chance. For such keys, five
  /// standard deviations of a key's records on the right, plus 10, are added for each record on the left.
  std::uint64_t row_bytes(std::uint32_t reader_count) const {
    const InputSides both = sides();
    const CheckedWindows& windows = shape().windows;
    const double lefts = static_cast<double>(reader_count) * static_cast<double>(both.left.flags.records);
    const double rights = static_cast<double>(reader_count) * static_cast<double>(both.right.flags.records);
    const double of_key = rights / static_cast<double>(input_.keys);
    const bool is_session = windows.kind == CheckedWindows::Kind::kSession;
    // Windows that follow each other in the input, and those that a record lies in. A session may last for all of it.
    const double in_a_row =
        is_session ? 1 : static_cast<double>(both.left.block.span_ms) / static_cast<double>(windows.size_ms);
    const double overlapping =
        is_session ? 1 : std::ceil(static_cast<double>(windows.size_ms) / static_cast<double>(windows.slide_ms));
    const double frequent = input_.key_distribution == "uniform" ? input_.hot_key_share : 1;
    const double pairs = lefts / in_a_row * (2 * of_key + frequent * (5 * std::sqrt(of_key) + 10));
    const double alone =
        (shape().kind == JoinKind::kInner ? 0 : lefts) + (shape().kind == JoinKind::kFull ? rights : 0);
    return VerifyRowBytes(overlapping * (pairs + alone) + 1000);
  }

  InputFlags input_;
  std::string export_right_;  // CSV file, or empty
  std::optional<ResultSinks> sinks_;
};

}  // namespace glaive::queries
