// The parts that joins have in common: their two streams, and Keep, which says what is kept of a record.
//
// What moves: nothing here. See api/join.h and api/interval_join.h, which say what a join moves.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "engine/api/as_stream.h"
#include "engine/api/functions.h"
#include "engine/api/named_stream.h"
#include "engine/api/stream.h"
#include "engine/api/wrong_order.h"
#include "engine/graph/join_rows.h"
#include "state/record/record.h"

namespace glaive::engine {

/// One of the streams that are joined, taken apart.
template <typename OriginT, Step ChainT>
class JoinInput {
 public:
  using Origin = OriginT;
  using Chain = ChainT;
  using Record = typename Chain::Out;

  explicit JoinInput(Stream<Origin, Chain> stream)
      : origin(std::move(stream.origin_)), chain(std::move(stream.chain_)) {}

  Origin origin;
  Chain chain;
};

template <typename Origin, Step Chain>
JoinInput<Origin, Chain> InputOf(Stream<Origin, Chain> stream) {
  return JoinInput<Origin, Chain>(std::move(stream));
}

/// The stream without event times: what is joined with a stream that has none, so that neither waits for the other.
template <typename Origin, Step Chain>
auto WithoutTimes(JoinInput<Origin, Chain> input) {
  if constexpr (Origin::kHasTime) {
    return InputOf(Stream<Origin, Chain>(std::move(input.origin), std::move(input.chain)).WithoutEventTime());
  } else {
    return input;
  }
}

/// The stream by the times at which its records are taken in.
template <typename Origin, Step Chain>
auto WithTimesOfTaking(JoinInput<Origin, Chain> input) {
  return InputOf(Stream<Origin, Chain>(std::move(input.origin), std::move(input.chain)).WithProcessingTime());
}

/// The key of a JoinedRecord or a KeyedRecord.
struct KeyOfJoined {
  template <typename Joined>
  const auto& operator()(const Joined& joined) const {
    return joined.key;
  }
};

/// What is kept of a record unless Keep says less.
struct WholeRecord {
  template <typename R>
  R operator()(const R& record) const {
    return record;
  }
};

/// What is kept of a record that only decides about others: nothing beside its key.
struct KeyAlone {
  template <typename R>
  NothingKept operator()(const R& /*record*/) const {
    return {};
  }
};

/// Whether what a function makes of a record can be shipped as its bytes and texts: at boundaries of 8, without
/// pointers.
template <typename Function, typename R>
struct MakesRecords {
  using Made = std::remove_cvref_t<std::invoke_result_t<const Function&, const R&>>;
  static constexpr bool kHidesTexts = kHidesText<Made>;
  static constexpr bool kValue = RecordData<Made> && std::is_default_constructible_v<Made> && alignof(Made) <= 8;
};

/// What a join JoinT of records inherits: Keep, and the steps of the stream of its results, which has whole records
/// without Keep. JoinT has a Keeping(left_keep, right_keep) &&, which makes that stream.
template <typename JoinT, JoinKind kKind, typename LeftRecord, typename RightRecord>
class KeptParts : public WithoutSink, public JoinWithResults {
 public:
  /// What is kept of each record, shipped to the leader, and shown in the results: callables or member pointers, to
  /// plain data without pointers, which may have texts.
  template <typename LeftKeep, typename RightKeep>
  auto Keep(LeftKeep left_keep, RightKeep right_keep) && {
    static_assert(kHasPairs,
                  "glaive: results of SemiJoin() and AntiJoin() are of the left stream alone: Keep(part_of_left)");
    if constexpr (kHasPairs && ExpectRecords<LeftKeep, RightKeep>()) {
      return Self().Keeping(std::move(left_keep), std::move(right_keep));
    } else {
      return WrongOrder{};
    }
  }
  /// The same for SemiJoin and AntiJoin, which keep and show the left records.
  template <typename LeftKeep>
  auto Keep(LeftKeep left_keep) && {
    static_assert(!kHasPairs,
                  "glaive: a join of pairs keeps a part of both streams' records: Keep(part_of_left, part_of_right)");
    if constexpr (!kHasPairs && ExpectRecords<LeftKeep, KeyAlone>()) {
      return Self().Keeping(std::move(left_keep), KeyAlone{});
    } else {
      return WrongOrder{};
    }
  }

  GLAIVE_STEP_OF_NAMED_JOIN(Keep)

  /// The stream of the results, of whole records.
  auto AsStream() && {
    if constexpr (kHasPairs) {
      return Self().Keep(WholeRecord{}, WholeRecord{});
    } else {
      return Self().Keep(WholeRecord{});
    }
  }

#define GLAIVE_STEP_WITHOUT_KEEP(name, unused)                            \
  template <typename... Arguments>                                        \
  auto name(Arguments&&... arguments)&& {                                 \
    return Self().AsStream().name(std::forward<Arguments>(arguments)...); \
  }                                                                       \
  template <typename... Arguments>                                        \
  WrongOrder name(const Arguments&...) const& {                           \
    return OfNamedJoin<Arguments...>();                                   \
  }
  GLAIVE_STREAM_STEPS(GLAIVE_STEP_WITHOUT_KEEP, )
  GLAIVE_STEP_WITHOUT_KEEP(Split, )
  GLAIVE_STEP_WITHOUT_KEEP(JoinTable, )
  GLAIVE_STEP_WITHOUT_KEEP(KeyBy, )
  GLAIVE_STEP_WITHOUT_KEEP(To, )
#undef GLAIVE_STEP_WITHOUT_KEEP

 private:
  friend JoinT;
  static constexpr bool kHasPairs = JoinRows<kKind, LeftRecord, RightRecord>::kHasPairs;

  KeptParts() = default;

  JoinT&& Self() { return static_cast<JoinT&&>(*this); }

  template <typename LeftKeep, typename RightKeep>
  static constexpr bool ExpectRecords() {
    if constexpr (!ExpectValueOf<LeftRecord, LeftKeep>() || !ExpectValueOf<RightRecord, RightKeep>()) {
      return false;
    } else {
      return ExpectPlainParts<LeftKeep, RightKeep>();
    }
  }

  template <typename LeftKeep, typename RightKeep>
  static constexpr bool ExpectPlainParts() {
    using OfLeft = MakesRecords<LeftKeep, LeftRecord>;
    using OfRight = MakesRecords<RightKeep, RightRecord>;
    constexpr bool kArePlain = OfLeft::kValue && OfRight::kValue;
    ExpectDescribedTexts<typename OfLeft::Made>();
    ExpectDescribedTexts<typename OfRight::Made>();
    static_assert(kArePlain || OfLeft::kHidesTexts || OfRight::kHidesTexts,
                  "glaive: Keep() takes plain data or texts of each record: no string, no pointers, no std::tuple");
    return kArePlain;
  }
};

}  // namespace glaive::engine
