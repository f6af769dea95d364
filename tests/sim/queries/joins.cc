#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kJoinSizeMs = 600;
constexpr std::int64_t kJoinSlideMs = 200;
constexpr std::int64_t kJoinGapMs = 120;

/// In anti joins a third of the keys have no right record, or hardly any left one would be without a partner.
bool IsInRight(const Event& event) { return event.key % 3 != 0; }

template <JoinKind kKind>
auto RightStream(const QueryParts& parts) {
  if constexpr (kKind == JoinKind::kAnti) {
    return SecondOfAll(parts).Filter(&IsInRight);
  } else {
    return SecondOfAll(parts);
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
                auto joined = JoinOfKind<kKind>(FirstOfAll(parts), RightStream<kKind>(parts))
                                  .On(&KeyAs<K>, &KeyAs<K>)
                                  .Window(window)
                                  .AllowedLateness(Millis(parts.lateness_ms))
                                  .LateTo(StoreLate{parts.rows}, StoreLate{parts.rows});
                if constexpr (kKind == JoinKind::kSemi || kKind == JoinKind::kAnti) {
                  return std::move(joined).Keep(&Event::amount).To(StoreRows{parts.rows});
                } else {
                  return std::move(joined).Keep(&Event::amount, &Event::amount).To(StoreRows{parts.rows});
                }
              },
          .expect = expect};
}

/// Which rows the oracle expects.
enum class Wanted : std::uint8_t { kPairs, kLeftAlso, kAll, kLeftWithPartner, kLeftWithoutPartner };

/// The rows of pairs that were made with `is_left` and `is_full` of the functions below.
std::vector<std::string> RowsOf(const std::vector<Pair>& pairs, Wanted wanted, KeyText key_text) {
  if (wanted == Wanted::kLeftWithPartner || wanted == Wanted::kLeftWithoutPartner) {
    return OneSidedRows(pairs, wanted == Wanted::kLeftWithPartner, key_text);
  }
  return PairRows(pairs, key_text);
}
std::vector<Seen> RightOf(const Input& input, Wanted wanted) {
  std::vector<Seen> right = Read(input, 1);
  if (wanted == Wanted::kLeftWithoutPartner) {
    std::erase_if(right, [](const Seen& seen) { return !IsInRight(seen.event); });
  }
  return right;
}
bool IsLeft(Wanted wanted) { return wanted != Wanted::kPairs; }
bool IsFull(Wanted wanted) { return wanted == Wanted::kAll; }

template <typename K = std::uint64_t>
std::function<Expected(const Input&)> Windowed(std::int64_t size_ms, std::int64_t slide_ms, Wanted wanted) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    std::vector<Event> late;
    const Groups left = GroupByWindows(Read(input, 0), size_ms, slide_ms, key.key_of, late);
    const Groups right = GroupByWindows(RightOf(input, wanted), size_ms, slide_ms, key.key_of, late);
    const std::vector<Pair> pairs = PairsOf(left, right, IsLeft(wanted), IsFull(wanted));
    return Expected{.rows = RowsOf(pairs, wanted, key.text), .late = LateRowsOf(late)};
  };
}

template <typename K = std::uint64_t>
std::function<Expected(const Input&)> Unwindowed(Wanted wanted) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    const Groups left = GroupUnbounded(Read(input, 0), 0, key.key_of);
    const Groups right = GroupUnbounded(RightOf(input, wanted), 0, key.key_of);
    const std::vector<Pair> pairs = PairsOf(left, right, IsLeft(wanted), IsFull(wanted));
    return Expected{.rows = RowsOf(pairs, wanted, key.text), .late = {}};
  };
}

/// One stream has no event times, so that neither waits for the other.
CatalogueEntry JoinWithoutEventTimes() {
  return {.name = "unwindowed full join with records without their event times",
          .window = "unbounded",
          .aggregates = {},
          .join = "full",
          .sources = 2,
          .rows_wait_for = RowsWaitFor::kOwnTimes,
          .compares_flows = false,
          .operators = {"WithoutEventTime"},
          .build =
              [](const QueryParts& parts) {
                return FullJoin(FirstOfAll(parts), SecondOfAll(parts).WithoutEventTime())
                    .On(&Event::key, &Event::key)
                    .Window(Unbounded{})
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
          .expect = Unwindowed(Wanted::kAll)};
}

/// For keys that no two events' keys share.
template <typename K = std::uint64_t>
std::function<Expected(const Input&)> InSession(Wanted wanted) {
  return [=, key = KeyOracleOf<K>()](const Input& input) {
    std::vector<Event> late;
    const std::vector<Pair> pairs =
        SessionPairsOf(Read(input, 0), RightOf(input, wanted), kJoinGapMs, IsLeft(wanted), IsFull(wanted), late);
    return Expected{.rows = RowsOf(pairs, wanted, key.text), .late = LateRowsOf(late)};
  };
}

}  // namespace

std::vector<CatalogueEntry> JoinQueries() {
  const Tumbling tumbling{Millis(kJoinSizeMs)};
  const Sliding sliding{Millis(kJoinSizeMs), Millis(kJoinSlideMs)};
  const Session session{Millis(kJoinGapMs)};
  constexpr Wanted kWith = Wanted::kLeftWithPartner;
  constexpr Wanted kWithout = Wanted::kLeftWithoutPartner;
  return {JoinOf<JoinKind::kInner>("join", "inner", "tumbling", tumbling,
                                   Windowed(kJoinSizeMs, kJoinSizeMs, Wanted::kPairs)),
          JoinOf<JoinKind::kLeft>("left join", "left", "tumbling", tumbling,
                                  Windowed(kJoinSizeMs, kJoinSizeMs, Wanted::kLeftAlso)),
          JoinOf<JoinKind::kFull>("full join", "full", "tumbling", tumbling,
                                  Windowed(kJoinSizeMs, kJoinSizeMs, Wanted::kAll)),
          JoinOf<JoinKind::kInner>("sliding join", "inner", "sliding", sliding,
                                   Windowed(kJoinSizeMs, kJoinSlideMs, Wanted::kPairs)),
          JoinOf<JoinKind::kLeft, Key40>("sliding left join by 40 bytes", "left", "sliding", sliding,
                                         Windowed<Key40>(kJoinSizeMs, kJoinSlideMs, Wanted::kLeftAlso)),
          JoinOf<JoinKind::kFull>("sliding full join", "full", "sliding", sliding,
                                  Windowed(kJoinSizeMs, kJoinSlideMs, Wanted::kAll)),
          JoinOf<JoinKind::kInner>("session join", "inner", "session", session, InSession(Wanted::kPairs)),
          JoinOf<JoinKind::kLeft>("session left join", "left", "session", session, InSession(Wanted::kLeftAlso)),
          JoinOf<JoinKind::kFull>("session full join", "full", "session", session, InSession(Wanted::kAll)),
          JoinOf<JoinKind::kInner>("unwindowed join", "inner", "unbounded", Unbounded{}, Unwindowed(Wanted::kPairs)),
          JoinOf<JoinKind::kLeft, std::uint16_t>("unwindowed left join by 2 bytes", "left", "unbounded", Unbounded{},
                                                 Unwindowed<std::uint16_t>(Wanted::kLeftAlso)),
          JoinOf<JoinKind::kFull, MixedKey>("unwindowed full join by a struct", "full", "unbounded", Unbounded{},
                                            Unwindowed<MixedKey>(Wanted::kAll)),
          JoinOf<JoinKind::kFull, Text>("full join by a text", "full", "tumbling", tumbling,
                                        Windowed<Text>(kJoinSizeMs, kJoinSizeMs, Wanted::kAll)),
          JoinOf<JoinKind::kFull, NamedKey>("session full join by a struct with a text", "full", "session", session,
                                            InSession<NamedKey>(Wanted::kAll)),
          JoinOf<JoinKind::kLeft, Text>("unwindowed left join by a text", "left", "unbounded", Unbounded{},
                                        Unwindowed<Text>(Wanted::kLeftAlso)),
          JoinOf<JoinKind::kSemi>("semi join", "semi", "tumbling", tumbling, Windowed(kJoinSizeMs, kJoinSizeMs, kWith)),
          JoinOf<JoinKind::kAnti, Text>("anti join by a text", "anti", "tumbling", tumbling,
                                        Windowed<Text>(kJoinSizeMs, kJoinSizeMs, kWithout)),
          JoinOf<JoinKind::kSemi>("sliding semi join", "semi", "sliding", sliding,
                                  Windowed(kJoinSizeMs, kJoinSlideMs, kWith)),
          JoinOf<JoinKind::kAnti>("sliding anti join", "anti", "sliding", sliding,
                                  Windowed(kJoinSizeMs, kJoinSlideMs, kWithout)),
          JoinOf<JoinKind::kSemi>("session semi join", "semi", "session", session, InSession(kWith)),
          JoinOf<JoinKind::kAnti>("session anti join", "anti", "session", session, InSession(kWithout)),
          JoinOf<JoinKind::kSemi, Text>("unwindowed semi join by a text", "semi", "unbounded", Unbounded{},
                                        Unwindowed<Text>(kWith)),
          JoinOf<JoinKind::kAnti>("unwindowed anti join", "anti", "unbounded", Unbounded{}, Unwindowed(kWithout)),
          JoinWithoutEventTimes()};
}

}  // namespace glaive::sim
