#include "bench/scaling/wordcount.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/scaling/record_blocks.h"
#include "queries/loops/loop_totals.h"
#include "queries/wordcount/generator.h"
#include "queries/wordcount/word_loop.h"
#include "queries/wordcount/word_table.h"
#include "queries/wordcount/wordcount_query.h"

namespace glaive::bench {
namespace {

using queries::ResultSinks;
using queries::wordcount::BuildWordcount;
using queries::wordcount::Form;
using queries::wordcount::WordInCell;
using queries::wordcount::WordLoop;
using queries::wordcount::WordView;
using LineBlocks = RecordBlocks<queries::wordcount::TextLine, queries::wordcount::TextLineTime>;

constexpr std::int64_t kMinuteOfWordsMs = 60'000;

/// Over a block.
template <typename Cell>
absl::StatusOr<Loop> LoopOver(const std::shared_ptr<const LineBlocks>& blocks, std::uint32_t number,
                              const InputSize& size) {
  absl::StatusOr<WordLoop<Cell>> made = WordLoop<Cell>::Create(size.keys);
  if (!made.ok()) {
    return made.status();
  }
  const auto loop = std::make_shared<WordLoop<Cell>>(*std::move(made));
  return [=, repetitions = size.repetitions] {
    return queries::LoopTotals(*loop, blocks->of(number), {.repetitions = repetitions});
  };
}

template <typename Cell>
absl::StatusOr<Workload> MakeBeside(const InputSize& size) {
  const std::uint64_t records = size.RecordsOf(sizeof(queries::wordcount::TextLine));
  const std::int64_t span_ms = static_cast<std::int64_t>(size.windows) * kMinuteOfWordsMs;
  const auto input = InputOf(size, records, span_ms, kMinuteOfWordsMs);
  if (!input.ok()) {
    return input.status();
  }
  const auto generated = LineBlocks::Generate(queries::wordcount::LineGenerator(*input), records, size.executors);
  if (!generated.ok()) {
    return generated.status();
  }
  const std::shared_ptr<const LineBlocks>& blocks = *generated;
  const auto build = [=, repetitions = size.repetitions](Form form, const ResultSinks& sinks) {
    return BuildWordcount({.form = form}, blocks->Source(repetitions, span_ms), sinks);
  };
  Workload workload;
  workload.records = records * size.repetitions;
  workload.build_query = [build](const ResultSinks& sinks) { return build(Form::kAssociative, sinks); };
  workload.build_moving_query = [build](const ResultSinks& sinks) { return build(Form::kPlain, sinks); };
  workload.make_loop = [=](std::uint32_t executor) { return LoopOver<Cell>(blocks, executor, size); };
  workload.make_sequential_loop = [=]() -> absl::StatusOr<Loop> {
    const auto merged = blocks->Merge();
    return merged.ok() ? LoopOver<Cell>(*merged, 0, size) : merged.status();
  };
  return workload;
}

}  // namespace

absl::StatusOr<Workload> MakeWordcount(const InputSize& size) { return MakeBeside<WordView>(size); }
absl::StatusOr<Workload> MakeWordcountBesideCells(const InputSize& size) { return MakeBeside<WordInCell>(size); }

}  // namespace glaive::bench
