// The oracle: what a sequential run shows of a simulated input. It shares no code with the engine: windows are found
// one by one, sets are sorted vectors, sums are plain ones (the inputs are such that they are exact).
//
// Groups are the records of a window and key; a query's expectation says what it shows of each.
//
//   const std::vector<Seen> seen = Read(input, 0);
//   for (const auto& [window, events] : GroupByWindows(seen, 1000, 500, KeyOf, late)) ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// All records of a source.
std::vector<Seen> Read(const Input& input, std::size_t source);
/// Those for which `keep` holds.
std::vector<Seen> Only(std::vector<Seen> seen, const std::function<bool(const Event&)>& keep);

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

// Aggregates of a group's records, as text.
std::string CountOf(const std::vector<Event>& events);
std::string SumOf(const std::vector<Event>& events);
std::string WeightOf(const std::vector<Event>& events);
std::string LeastOf(const std::vector<Event>& events);
std::string GreatestOf(const std::vector<Event>& events);
std::string MeanOf(const std::vector<Event>& events);
std::string VarianceOf(const std::vector<Event>& events);
std::string TopThreeOf(const std::vector<Event>& events);
std::string FirstOf(const std::vector<Event>& events);
std::string LastOf(const std::vector<Event>& events);
std::string DistinctOf(const std::vector<Event>& events);

/// A row as text, as show.h shows the engine's.
std::string RowText(const WindowKey& window, const std::string& key, const std::string& value);

/// Rows of groups: `show` of each group's records. `keyless`: their key is that of all records.
std::vector<std::string> RowsOf(const Groups& groups, const std::function<std::string(const std::vector<Event>&)>& show,
                                bool keyless = false);
std::vector<std::string> LateRowsOf(const std::vector<Event>& late);

/// Pairs of a join of two groupings with the same windows, as rows; `left` and `full`: also those without a partner.
std::vector<std::string> PairsOf(const Groups& left, const Groups& right, bool is_left, bool is_full);
/// The same for sessions, which span the records of both.
std::vector<std::string> SessionPairsOf(const std::vector<Seen>& left, const std::vector<Seen>& right,
                                        std::int64_t gap_ms, bool is_left, bool is_full, std::vector<Event>& late_left,
                                        std::vector<Event>& late_right);

}  // namespace glaive::sim
