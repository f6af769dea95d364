// The oracle: what a sequential run shows of a simulated input. It shares no code with the engine: windows are found
// one by one.
//
// Groups are the records of a window and key; a query's expectation says what it shows of each
// (aggregate_oracle.h), or makes the records of its next stage of them.
//
//   const std::vector<Seen> seen = Read(input, 0);
//   for (const auto& [window, events] : GroupByWindows(seen, 1000, 500, KeyOf, late)) ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sim/event.h"

namespace glaive::sim {

/// What a query shows: rows and, behind LateTo, late records; in any order.
struct Expected {
  std::vector<std::string> rows;
  std::vector<std::string> late;
};

/// A record, and the watermark by which it is judged: that of its flow when it was read, less the allowed lateness.
struct Seen {
  Event event;
  std::int64_t judged_by_ms = kBeginningMs;
};

struct WindowKey {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::uint64_t key = 0;

  friend auto operator<=>(const WindowKey&, const WindowKey&) = default;
};

using Groups = std::map<WindowKey, std::vector<Event>>;
using KeyFunction = std::function<std::uint64_t(const Event&)>;
/// A key as a row shows it.
using KeyText = std::string (*)(std::uint64_t key);

/// All records of a source.
std::vector<Seen> Read(const Input& input, std::size_t source);
/// Those for which `selects` holds.
std::vector<Seen> Only(std::vector<Seen> seen, const std::function<bool(const Event&)>& selects);

/// A record's windows are those that cover it and have not ended for its flow; a record without any is late.
Groups GroupByWindows(const std::vector<Seen>& seen, std::int64_t size_ms, std::int64_t slide_ms,
                      const KeyFunction& key_of, std::vector<Event>& late);
/// Sessions of each key: a record behind its flow's watermark is late.
Groups GroupBySessions(const std::vector<Seen>& seen, std::int64_t gap_ms, const KeyFunction& key_of,
                       std::vector<Event>& late);
/// Everything up to each multiple of `every_ms` at which a key has changed; 0: at the end.
Groups GroupUnbounded(const std::vector<Seen>& seen, std::int64_t every_ms, const KeyFunction& key_of);

std::uint64_t KeyOf(const Event& event);
std::uint64_t NoKey(const Event& event);

/// The records of the next stage: one of each group, at its window's last millisecond, with its key and `amount_of` its
/// records. None of them is late.
std::vector<Seen> ResultsOf(const Groups& groups,
                            const std::function<std::int64_t(const std::vector<Event>&)>& amount_of);

/// A row as text, as show.h shows the engine's.
std::string RowText(const WindowKey& window, const std::string& key, const std::string& value);

std::string PlainText(std::uint64_t key);
/// Of the key that all records have.
std::string AllRecordsText(std::uint64_t key);

/// Rows of groups: `show` of each group's records.
std::vector<std::string> RowsOf(const Groups& groups, const std::function<std::string(const std::vector<Event>&)>& show,
                                KeyText key_text = PlainText);
std::vector<std::string> LateRowsOf(const std::vector<Event>& late);

/// What a join makes of two records: their amounts.
struct Pair {
  WindowKey window;
  std::optional<std::int64_t> left;
  std::optional<std::int64_t> right;
  bool is_first = true;  // of its left record
};

/// Pairs of a join of two groupings with the same windows; `is_left` and `is_full`: also those without a partner.
std::vector<Pair> PairsOf(const Groups& left, const Groups& right, bool is_left, bool is_full);
/// The same for sessions, which span the records of both.
std::vector<Pair> SessionPairsOf(const std::vector<Seen>& left, const std::vector<Seen>& right, std::int64_t gap_ms,
                                 bool is_left, bool is_full, std::vector<Event>& late);
/// The records of the next stage: one of each pair, at its window's last millisecond, with its key and `amount_of` it.
std::vector<Seen> ResultsOf(const std::vector<Pair>& pairs, const std::function<std::int64_t(const Pair&)>& amount_of);
std::vector<std::string> PairRows(const std::vector<Pair>& pairs, KeyText key_text = PlainText);
/// A row for each left record that has a partner, or for each that has none; `pairs` are those of a left join.
std::vector<std::string> OneSidedRows(const std::vector<Pair>& pairs, bool with_partner, KeyText key_text = PlainText);

}  // namespace glaive::sim
