#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kJoinSizeMs = 600;
constexpr std::int64_t kJoinSlideMs = 200;
constexpr std::int64_t kJoinGapMs = 120;

template <JoinKind kKind>
auto Joined(const QueryParts& parts) {
  if constexpr (kKind == JoinKind::kInner) {
    return Join(FirstOfAll(parts), SecondOfAll(parts));
  } else if constexpr (kKind == JoinKind::kLeft) {
    return LeftJoin(FirstOfAll(parts), SecondOfAll(parts));
  } else {
    return FullJoin(FirstOfAll(parts), SecondOfAll(parts));
  }
}

template <JoinKind kKind, typename K = std::uint64_t, typename W>
CatalogueEntry JoinOf(std::string_view name, std::string_view kind, std::string_view window_name, const W& window,
                      const std::function<Expected(const Input&)>& expect) {
  return {.name = name,
          .window = window_name,
          .aggregates = {},
          .join = kind,
          .key = KeyOracleOf<K>().name,
          .sources = 2,
          .rows_wait_for = std::is_same_v<W, Unbounded> ? RowsWaitFor::kNothing : RowsWaitFor::kInput,
          .build =
              [window](const QueryParts& parts) {
                auto windowed = Joined<kKind>(parts).On(&KeyAs<K>, &KeyAs<K>).Window(window);
                return std::move(windowed)
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreLate{parts.rows}, StoreLate{parts.rows})
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
          .expect = expect};
}

template <typename K = std::uint64_t>
std::function<Expected(const Input&)> Windowed(std::int64_t size_ms, std::int64_t slide_ms, bool is_left,
                                               bool is_full) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    std::vector<Event> late;
    const Groups left = GroupByWindows(Read(input, 0), size_ms, slide_ms, key.key_of, late);
    const Groups right = GroupByWindows(Read(input, 1), size_ms, slide_ms, key.key_of, late);
    return Expected{.rows = PairRows(PairsOf(left, right, is_left, is_full), key.text), .late = LateRowsOf(late)};
  };
}

template <typename K = std::uint64_t>
std::function<Expected(const Input&)> Unwindowed(bool is_left, bool is_full) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    const Groups left = GroupUnbounded(Read(input, 0), 0, key.key_of);
    const Groups right = GroupUnbounded(Read(input, 1), 0, key.key_of);
    return Expected{.rows = PairRows(PairsOf(left, right, is_left, is_full), key.text), .late = {}};
  };
}

/// For keys that no two events' keys share.
template <typename K = std::uint64_t>
std::function<Expected(const Input&)> InSession(bool is_left, bool is_full) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    std::vector<Event> late;
    const std::vector<Pair> pairs = SessionPairsOf(Read(input, 0), Read(input, 1), kJoinGapMs, is_left, is_full, late);
    return Expected{.rows = PairRows(pairs, key.text), .late = LateRowsOf(late)};
  };
}

}  // namespace

std::vector<CatalogueEntry> JoinQueries() {
  const Tumbling tumbling{Millis(kJoinSizeMs)};
  const Sliding sliding{Millis(kJoinSizeMs), Millis(kJoinSlideMs)};
  const Session session{Millis(kJoinGapMs)};
  return {
      JoinOf<JoinKind::kInner>("join", "inner", "tumbling", tumbling, Windowed(kJoinSizeMs, kJoinSizeMs, false, false)),
      JoinOf<JoinKind::kLeft>("left join", "left", "tumbling", tumbling,
                              Windowed(kJoinSizeMs, kJoinSizeMs, true, false)),
      JoinOf<JoinKind::kFull>("full join", "full", "tumbling", tumbling,
                              Windowed(kJoinSizeMs, kJoinSizeMs, true, true)),
      JoinOf<JoinKind::kInner>("sliding join", "inner", "sliding", sliding,
                               Windowed(kJoinSizeMs, kJoinSlideMs, false, false)),
      JoinOf<JoinKind::kLeft, Key40>("sliding left join by 40 bytes", "left", "sliding", sliding,
                                     Windowed<Key40>(kJoinSizeMs, kJoinSlideMs, true, false)),
      JoinOf<JoinKind::kFull>("sliding full join", "full", "sliding", sliding,
                              Windowed(kJoinSizeMs, kJoinSlideMs, true, true)),
      JoinOf<JoinKind::kInner>("session join", "inner", "session", session, InSession(false, false)),
      JoinOf<JoinKind::kLeft>("session left join", "left", "session", session, InSession(true, false)),
      JoinOf<JoinKind::kFull>("session full join", "full", "session", session, InSession(true, true)),
      JoinOf<JoinKind::kInner>("unwindowed join", "inner", "unbounded", Unbounded{}, Unwindowed(false, false)),
      JoinOf<JoinKind::kLeft, std::uint16_t>("unwindowed left join by 2 bytes", "left", "unbounded", Unbounded{},
                                             Unwindowed<std::uint16_t>(true, false)),
      JoinOf<JoinKind::kFull, MixedKey>("unwindowed full join by a struct", "full", "unbounded", Unbounded{},
                                        Unwindowed<MixedKey>(true, true)),
      JoinOf<JoinKind::kFull, Text>("full join by a text", "full", "tumbling", tumbling,
                                    Windowed<Text>(kJoinSizeMs, kJoinSizeMs, true, true)),
      JoinOf<JoinKind::kFull, NamedKey>("session full join by a struct with a text", "full", "session", session,
                                        InSession<NamedKey>(true, true)),
      JoinOf<JoinKind::kLeft, Text>("unwindowed left join by a text", "left", "unbounded", Unbounded{},
                                    Unwindowed<Text>(true, false))};
}

}  // namespace glaive::sim
