// KeyedStream: a stream behind KeyBy: it can be grouped by windows, or aggregated as a whole. See stream.h.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"

#include "engine/api/timed_stream.h"
#include "engine/api/windowed_stream.h"
#include "engine/api/wrong_order.h"
#include "engine/exchange/routes.h"
#include "engine/steps/steps.h"
#include "engine/window/window_spec.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// A record with the key that it was grouped by.
template <typename K, typename R>
struct KeyedRecord {
  K key;
  R record;

  friend bool operator==(const KeyedRecord&, const KeyedRecord&) = default;
};

/// After KeyBy.
template <typename Origin, typename Chain, typename Key>
class KeyedStream {
 public:
  using Record = typename Chain::Out;

  KeyedStream(Origin origin, Chain chain, Key key)
      : origin_(std::move(origin)), chain_(std::move(chain)), key_(std::move(key)) {}

  /// Groups each key's records by event time: Tumbling{size}, Sliding{size, slide} or Session{gap}, of at least 1 ms,
  /// or not at all: Unbounded{every}.
  template <typename W>
  auto Window(const W& window) && {
    static_assert(kIsWindow<W>,
                  "glaive: Window() takes Tumbling{size}, Sliding{size, slide}, Session{gap} or Unbounded{every}");
    constexpr bool kHasTime = Origin::kHasTime || std::is_same_v<W, Unbounded>;
    static_assert(kHasTime,
                  "glaive: this stream has no event times to be grouped by, as results of Unbounded{} have none; "
                  "Aggregate() it without a window, or To() a sink");
    if constexpr (std::is_same_v<W, Unbounded> && !Origin::kHasTime) {
      GLAIVE_CHECK(window.every == absl::InfiniteDuration(), "Unbounded{.every = ", absl::FormatDuration(window.every),
                   "} over a stream without event times; it has results at the end only");
    }
    if constexpr (kIsWindow<W> && kHasTime) {
      return WindowedStream<Origin, Chain, Key, W>(std::move(origin_), std::move(chain_), std::move(key_), window);
    } else {
      return WrongOrder{};
    }
  }

  /// Moves each record to the executor that leads its key, so that all records of a key are in one place. Windows and
  /// aggregates need no such move: they merge what each executor has of a key.
  auto Partition() && { return Exchanged(std::move(origin_), std::move(chain_), ByKey<Key>{key_}).KeyBy(key_); }

  /// One result for each key, of all its records, at the end of the stream: as
  /// Window(Unbounded{}).Aggregate(aggregate).
  template <typename A>
  auto Aggregate(const A& aggregate) && {
    return std::move(*this).Window(Unbounded{}).Aggregate(aggregate);
  }

  /// The stream of the records, each with its key: no longer grouped.
  auto Unkey() && {
    using K = std::remove_cvref_t<std::invoke_result_t<const Key&, const Record&>>;
    return Stream<Origin, Chain>(std::move(origin_), std::move(chain_))
        .Map([key = std::move(key_)](const Record& record) {
          return KeyedRecord<K, Record>{.key = std::invoke(key, record), .record = record};
        });
  }

  /// The stream of the records, no longer grouped.
  auto DropKey() && { return Stream<Origin, Chain>(std::move(origin_), std::move(chain_)); }

  GLAIVE_STREAM_STEPS(GLAIVE_WRONG_STREAM_STEP,
                      "comes before KeyBy(); after KeyBy() comes Window(...) or Aggregate(...)")
  GLAIVE_WRONG_ORDER(KeyBy, "glaive: a stream has one KeyBy(); after it comes Window(...) or Aggregate(...)")
  GLAIVE_WRONG_ORDER(AllowedLateness, "glaive: AllowedLateness() comes after Window()")
  GLAIVE_WRONG_ORDER(LateTo, "glaive: LateTo() comes after Window()")
  GLAIVE_WRONG_ORDER(To, "glaive: To() needs results: call Aggregate(...) after KeyBy(), maybe behind Window(...)")

 private:
  Origin origin_;
  Chain chain_;
  Key key_;
};

/// What stands for KeyBy where a query has none.
struct OneKeyForAll {
  template <typename R>
  AllRecords operator()(const R&) const {
    return {};
  }
};

}  // namespace glaive::engine
