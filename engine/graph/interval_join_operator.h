// IntervalJoinOperator: the join of two streams by key and by how far apart in event time two records are, on one
// executor.
//
//    left stream  ─┐
//                  ├─ union ─ exchange by key ──► buckets of event time (interval_tuples.h) ──► pairs ──► consumers
//    right stream ─┘
//
//   a record      meets the tuples of the other stream that are there, and waits for later records of that stream
//   Watermark     drops the tuples that no later record can meet; passes on
//   EndOfStream   drops all; passes on
//
// What moves: of each record its key and the part that Keep names, to the leader of its key, by the exchange in front
// of the operator, or without a key to executor 0. The operator itself moves nothing.
//
// A pair has a result when its second record comes. Its event time is the later one of both, so no result is late. A
// tuple without a partner has its result when it is dropped, with its own event time, or with the watermark if that is
// later. A record that is earlier than the watermark is late: it is counted, and has no result, since its partners may
// have been dropped.
//
// A turn is bounded: it ends after StateThresholds::entries_per_turn records or pairs.
//
// Owned by the executor's task, used by its thread alone. IntervalJoinVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/described_state.h"
#include "engine/graph/interval_tuples.h"
#include "engine/graph/join_rows.h"
#include "engine/graph/joined_record.h"
#include "engine/graph/kept_tuples.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/timed_producer.h"
#include "engine/graph/timed_vertex.h"
#include "engine/graph/vertex_plan.h"
#include "engine/sink/sink.h"
#include "state/record/record.h"
#include "state/store/run_groups.h"

namespace glaive::engine {

/// What a query says of it. A right record is a partner of a left one if its event time is later by `lower_ms` at least
/// and by `upper_ms` at most; either may be negative.
template <JoinKind kKind, typename K, typename LeftT, typename RightT, bool kFromSourceT>
struct IntervalJoinPlan {
  using Key = K;
  using Left = LeftT;
  using Right = RightT;
  using Record = JoinedRecord<K, Left, Right>;
  using Rows = JoinRows<kKind, Left, Right>;
  using Row = WindowResult<K, typename Rows::Result>;
  static constexpr bool kFromSource = kFromSourceT;

  std::int64_t lower_ms;
  std::int64_t upper_ms;

  std::string Describe() const {
    return absl::StrCat("partners are between ", absl::FormatDuration(absl::Milliseconds(lower_ms)), " and ",
                        absl::FormatDuration(absl::Milliseconds(upper_ms)), " later than the left record");
  }
};

/// `Plan` is an IntervalJoinPlan.
template <typename Plan>
class IntervalJoinOperator final : public TimedOperator<TimedRecord<typename Plan::Record>, typename Plan::Row>,
                                   public DescribedState {
 public:
  using In = TimedRecord<typename Plan::Record>;
  using Row = typename Plan::Row;

  /// Both outlive the operator.
  IntervalJoinOperator(const Plan& plan, TaskContext& context)
      : TimedOperator<In, Row>(context), plan_(&plan), context_(&context), tuples_(plan.upper_ms - plan.lower_ms + 1) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    const Stretch stretch{.read_ns = batch.read_ns};
    for (std::span<const In> rest = batch.records; !rest.empty();) {
      const std::size_t taken = TakeGroup(fiber, stretch, batch.event_time_shift_ms, rest);
      rest = rest.subspan(taken);
      this->CountWork(fiber, stretch, taken);
    }
    this->HandOn(fiber, stretch);
    kept_.Note(tuples_.left_size() + tuples_.right_size(), context_->memory->used_bytes());
  }

  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      // Of a left tuple the last partner may be later by `upper_ms`, and of a right one by -`lower_ms`.
      const std::int64_t last_ms = std::max({plan_->upper_ms, -plan_->lower_ms, std::int64_t{0}});
      DropBefore(fiber, HeldBack(watermark->time_ms, last_ms));
    } else if (std::holds_alternative<EndOfStream>(control)) {
      DropBefore(fiber, std::nullopt);
    }
    output().Emit(fiber, control);
  }

  void Measure() override {
    ExecutorMetrics& metrics = *context_->metrics;
    state::TableCounts& tables = metrics;
    tables += tuples_.counts();
    metrics.records_accepted += Plan::kFromSource ? records_ : 0;
    metrics.late_records += late_;
    metrics.kept_tuples += kept_.most;
    metrics.kept_tuple_bytes += kept_.state_bytes;
  }

  std::string Describe() const override {
    return absl::StrCat("the interval ", JoinName(Plan::Rows::kKind), " keeps ", tuples_.left_size(), " tuples of ",
                        sizeof(typename Tuples::LeftTuple), " bytes of its left stream and ", tuples_.right_size(),
                        " of ", sizeof(typename Tuples::RightTuple), " bytes of its right one");
  }

 private:
  using Key = typename Plan::Key;
  using Rows = typename Plan::Rows;
  using Left = typename Plan::Left;
  using Right = typename Plan::Right;
  using Tuples = IntervalTuples<Key, Left, Right>;
  using Bucket = typename Tuples::Bucket;
  using Part = typename Tuples::Part;
  using Stretch = typename TimedProducer<Row>::Stretch;
  using TimedOperator<In, Row>::output;
  static constexpr const Left* kNoLeft = nullptr;
  static constexpr const Right* kNoRight = nullptr;
  /// A record and its key, as SliceTable::Apply takes them.
  struct Item {
    std::uint64_t hash;
    Key key;
    const typename Plan::Record* record;
    std::int64_t time_ms;
  };

  /// Takes records from the front that are of one bucket, at most state::kGroupSize. Returns how many. Buckets and
  /// parts stay where they are while the consumers suspend the fiber: nothing else changes them.
  std::size_t TakeGroup(Fiber& fiber, const Stretch& stretch, std::int64_t shift_ms, std::span<const In> records) {
    std::size_t count = 0;
    std::size_t taken = 0;
    std::int64_t number = 0;
    std::size_t left_texts = 0;
    std::size_t right_texts = 0;
    for (; taken < records.size() && count < items_.size(); ++taken) {
      const auto& record = records[taken].record;
      const std::int64_t time_ms = records[taken].event_time_ms + shift_ms;
      if (time_ms < output().watermark_ms()) {
        ++late_;
        continue;
      }
      if (count > 0 && tuples_.NumberOf(time_ms) != number) {
        break;
      }
      number = tuples_.NumberOf(time_ms);
      items_[count++] = {
          .hash = context_->memory->key_hash()(record.key), .key = record.key, .record = &record, .time_ms = time_ms};
      left_texts += record.left ? TextBytes(*record.left) : 0;
      right_texts += record.right ? TextBytes(*record.right) : 0;
    }
    if (count == 0) {
      return taken;
    }
    records_ += count;
    absl::StatusOr<Bucket*> opened = tuples_.Open(*context_->memory, number);
    context_->Require(fiber, Explain(opened.status()));
    Bucket& bucket = **opened;
    absl::Status status = bucket.left.MakeRoom(*context_->memory, static_cast<std::uint32_t>(count), left_texts);
    status.Update(bucket.right.MakeRoom(*context_->memory, static_cast<std::uint32_t>(count), right_texts));
    context_->Require(fiber, Explain(status));
    status = bucket.table.Apply(*context_->memory, std::span<const Item>(items_.data(), count),
                                [&](Part& part, const Item& item) {
                                  if (item.record->left) {
                                    TakeLeft(fiber, stretch, number, bucket, part, item);
                                  } else {
                                    TakeRight(fiber, stretch, number, bucket, part, item);
                                  }
                                });
    context_->Require(fiber, Explain(status));
    return taken;
  }

  void TakeLeft(Fiber& fiber, const Stretch& stretch, std::int64_t number, Bucket& bucket, Part& part,
                const Item& item) {
    const Left& left = *item.record->left;
    bool has_met = false;
    const std::int64_t first_ms = item.time_ms + plan_->lower_ms;
    const std::int64_t last_ms = item.time_ms + plan_->upper_ms;
    ForEachPart(number, bucket, part, item, first_ms, last_ms, [&](Bucket& its_bucket, Part& its_part) {
      its_bucket.right
          .ForEach(its_part.right,
                   [&](auto& right) {
                     if (right.time_ms >= first_ms && right.time_ms <= last_ms) {
                       has_met = true;
                       right.has_met = true;
                       EmitPair(fiber, stretch, item.key, item.time_ms, &left, right.time_ms, &right.tuple);
                     }
                     return absl::OkStatus();
                   })
          .IgnoreError();
    });
    if (has_met && Rows::kLeftAlone == Alone::kWithPartner) {
      EmitAlone(fiber, stretch, item.key, item.time_ms, &left, kNoRight);
      return;
    }
    if (last_ms >= output().watermark_ms()) {
      tuples_.PushLeft(bucket, part, {.time_ms = item.time_ms, .tuple = left, .has_met = has_met});
    } else if (!has_met && Rows::kLeftAlone == Alone::kWithoutPartner) {
      EmitAlone(fiber, stretch, item.key, item.time_ms, &left, kNoRight);
    }
  }

  void TakeRight(Fiber& fiber, const Stretch& stretch, std::int64_t number, Bucket& bucket, Part& part,
                 const Item& item) {
    const Right& right = *item.record->right;
    bool has_met = false;
    const std::int64_t first_ms = item.time_ms - plan_->upper_ms;
    const std::int64_t last_ms = item.time_ms - plan_->lower_ms;
    ForEachPart(number, bucket, part, item, first_ms, last_ms, [&](Bucket& its_bucket, Part& its_part) {
      its_bucket.left
          .ForEach(its_part.left,
                   [&](auto& left) {
                     if (left.time_ms >= first_ms && left.time_ms <= last_ms) {
                       has_met = true;
                       if (!std::exchange(left.has_met, true) && Rows::kLeftAlone == Alone::kWithPartner) {
                         EmitAlone(fiber, stretch, item.key, left.time_ms, &left.tuple, kNoRight);
                       }
                       EmitPair(fiber, stretch, item.key, left.time_ms, &left.tuple, item.time_ms, &right);
                     }
                     return absl::OkStatus();
                   })
          .IgnoreError();
    });
    if (last_ms >= output().watermark_ms()) {
      tuples_.PushRight(bucket, part, {.time_ms = item.time_ms, .tuple = right, .has_met = has_met});
    } else if (!has_met && Rows::kRightAlone == Alone::kWithoutPartner) {
      EmitAlone(fiber, stretch, item.key, item.time_ms, kNoLeft, &right);
    }
  }

  /// Calls `visit(bucket, part)` for what the buckets of a stretch of event time have of the item's key. `part` of
  /// `bucket`, whose number is `number`, is known.
  template <typename Visit>
  void ForEachPart(std::int64_t number, Bucket& bucket, Part& part, const Item& item, std::int64_t first_ms,
                   std::int64_t last_ms, const Visit& visit) {
    tuples_.ForEachBetween(first_ms, last_ms, [&](std::int64_t its_number, Bucket& its_bucket) {
      if (its_number == number) {
        visit(bucket, part);
      } else if (Part* found = its_bucket.table.Find(item.hash, item.key); found != nullptr) {
        visit(its_bucket, *found);
      }
    });
  }

  void EmitPair(Fiber& fiber, const Stretch& stretch, const Key& key, std::int64_t left_ms, const Left* left,
                std::int64_t right_ms, const Right* right) {
    if constexpr (Rows::kHasPairs) {
      EmitRow(fiber, stretch, key, std::min(left_ms, right_ms), std::max(left_ms, right_ms), left, right);
    }
  }
  void EmitAlone(Fiber& fiber, const Stretch& stretch, const Key& key, std::int64_t time_ms, const Left* left,
                 const Right* right) {
    EmitRow(fiber, stretch, key, time_ms, time_ms, left, right);
  }
  void EmitRow(Fiber& fiber, const Stretch& stretch, const Key& key, std::int64_t first_ms, std::int64_t last_ms,
               const Left* left, const Right* right) {
    this->Add(
        fiber, stretch, std::max(last_ms, output().watermark_ms()),
        Row{.window_start_ms = first_ms, .window_end_ms = last_ms + 1, .key = key, .value = Rows::Make(left, right)});
    this->CountWork(fiber, stretch);
  }

  /// Drops the buckets whose event times are all before `time_ms`, or all buckets, with a row for each tuple that had
  /// no partner and is to have one then.
  void DropBefore(Fiber& fiber, std::optional<std::int64_t> time_ms) {
    const Stretch stretch{.read_ns = context_->clock->NowNanos()};
    tuples_.DropBefore(*context_->memory, time_ms, [&](Bucket& bucket) {
      if constexpr (Rows::kLeftAlone == Alone::kWithoutPartner || Rows::kRightAlone == Alone::kWithoutPartner) {
        EmitUnmet(fiber, stretch, bucket);
      }
    });
    this->HandOn(fiber, stretch);
  }

  void EmitUnmet(Fiber& fiber, const Stretch& stretch, Bucket& bucket) {
    for (std::uint32_t i = 0; i < bucket.table.size(); ++i) {
      const auto& [key, part] = bucket.table.At(i);
      this->CountWork(fiber, stretch);
      const auto emit = [&](const auto& tuple, const Left* left, const Right* right) {
        if (!tuple.has_met) {
          if (output().idle()) {
            output().Emit(fiber, Active{.now_ns = stretch.read_ns});
          }
          EmitAlone(fiber, stretch, key, tuple.time_ms, left, right);
        }
        return absl::OkStatus();
      };
      if constexpr (Rows::kLeftAlone == Alone::kWithoutPartner) {
        bucket.left.ForEach(part.left, [&](const auto& left) { return emit(left, &left.tuple, kNoRight); })
            .IgnoreError();
      }
      if constexpr (Rows::kRightAlone == Alone::kWithoutPartner) {
        bucket.right.ForEach(part.right, [&](const auto& right) { return emit(right, kNoLeft, &right.tuple); })
            .IgnoreError();
      }
    }
  }

  const Plan* plan_;
  TaskContext* context_;
  Tuples tuples_;
  std::uint64_t records_ = 0;
  std::uint64_t late_ = 0;
  KeptTuples kept_;
  std::array<Item, state::kGroupSize> items_;
};

/// `Origin` is a TimedOrigin, of an exchange by the key of its JoinedRecords.
template <typename Origin, typename Plan>
class IntervalJoinVertex final : public TimedVertex<Origin, typename Plan::Row> {
 public:
  IntervalJoinVertex(Origin origin, Plan plan)
      : TimedVertex<Origin, typename Plan::Row>(std::move(origin)), plan_(std::move(plan)) {}

  bool adds_past_results() const override { return this->origin().vertex->adds_past_results(); }
  std::string_view why_not_in_loops() const override {
    return "Within() in the body of a loop would join records of two iterations: Window(EachIteration()) joins those "
           "of one";
  }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    const std::string whose = std::is_same_v<typename Plan::Key, AllRecords>
                                  ? "without a key"
                                  : absl::StrCat("by a key of ", sizeof(typename Plan::Key), " bytes");
    return {.kind = absl::StrCat("interval ", JoinName(Plan::Rows::kKind)), .facts = {whose, plan_.Describe()}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    return this->Consuming(graph, std::make_unique<IntervalJoinOperator<Plan>>(plan_, graph.context()));
  }

 private:
  Plan plan_;
};

}  // namespace glaive::engine
