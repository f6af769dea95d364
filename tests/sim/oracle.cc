#include "tests/sim/oracle.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace glaive::sim {
namespace {

std::int64_t Held(std::int64_t watermark_ms, std::int64_t by_ms) {
  return watermark_ms == kBeginningMs ? kBeginningMs : watermark_ms - by_ms;
}

std::string Record(const Event& event) {
  return absl::StrFormat("(%d %d %d %.17g %d)", event.key, event.time_ms, event.amount, event.weight, event.kind);
}

void AddPairs(const WindowKey& window, const std::vector<Event>& left, const std::vector<Event>& right, bool is_left,
              bool is_full, std::vector<Pair>& pairs) {
  for (const Event& one : left) {
    for (const Event& other : right) pairs.push_back({window, one.amount, other.amount, &other == right.data()});
    if (right.empty() && is_left) pairs.push_back({window, one.amount, std::nullopt});
  }
  for (const Event& other : right) {
    if (left.empty() && is_full) pairs.push_back({window, std::nullopt, other.amount});
  }
}

std::string Column(const std::optional<std::int64_t>& amount) { return amount ? absl::StrCat(*amount) : "none"; }

}  // namespace

std::string RowText(const WindowKey& window, const std::string& key, const std::string& value) {
  return absl::StrCat("[", window.start_ms, ", ", window.end_ms, ") ", key, ": ", value);
}

std::vector<Seen> Read(const Input& input, std::size_t source) {
  std::vector<Seen> seen;
  for (const Flow& flow : input.sources[source]) {
    std::int64_t watermark_ms = kBeginningMs;
    for (const Batch& batch : flow) {
      for (const Event& event : batch.events) {
        seen.push_back({.event = event, .judged_by_ms = Held(watermark_ms, input.lateness_ms)});
      }
      watermark_ms = batch.watermark_ms;
    }
  }
  return seen;
}

std::vector<Seen> Only(std::vector<Seen> seen, const std::function<bool(const Event&)>& selects) {
  std::erase_if(seen, [&](const Seen& each) { return !selects(each.event); });
  return seen;
}

Groups GroupByWindows(const std::vector<Seen>& seen, std::int64_t size_ms, std::int64_t slide_ms,
                      const KeyFunction& key_of, std::vector<Event>& late) {
  Groups groups;
  for (const Seen& each : seen) {
    bool is_late = true;
    // Some start at or behind the record, from where to look back; division rounds to 0.
    for (std::int64_t start_ms = (each.event.time_ms / slide_ms + 1) * slide_ms;
         start_ms > each.event.time_ms - size_ms; start_ms -= slide_ms) {
      const std::int64_t end_ms = start_ms + size_ms;
      if (start_ms > each.event.time_ms || end_ms <= each.judged_by_ms) continue;
      groups[{start_ms, end_ms, key_of(each.event)}].push_back(each.event);
      is_late = false;
    }
    if (is_late) late.push_back(each.event);
  }
  return groups;
}

Groups GroupBySessions(const std::vector<Seen>& seen, std::int64_t gap_ms, const KeyFunction& key_of,
                       std::vector<Event>& late) {
  std::map<std::uint64_t, std::vector<Event>> by_key;
  for (const Seen& each : seen) {
    if (each.event.time_ms < each.judged_by_ms) {
      late.push_back(each.event);
    } else {
      by_key[key_of(each.event)].push_back(each.event);
    }
  }
  Groups groups;
  for (auto& [key, events] : by_key) {
    std::ranges::stable_sort(events, {}, &Event::time_ms);
    for (std::size_t first = 0, next = 0; first < events.size(); first = next) {
      for (next = first + 1; next < events.size() && events[next].time_ms - events[next - 1].time_ms < gap_ms;) ++next;
      groups[{events[first].time_ms, events[next - 1].time_ms + gap_ms, key}] = std::vector<Event>(
          events.begin() + static_cast<std::ptrdiff_t>(first), events.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }
  return groups;
}

Groups GroupUnbounded(const std::vector<Seen>& seen, std::int64_t every_ms, const KeyFunction& key_of) {
  std::map<std::int64_t, std::vector<Event>> shown;  // by when they show first
  for (const Seen& each : seen) {
    std::int64_t first_ms = kEndMs;
    if (every_ms != 0) {
      const std::int64_t behind_ms = std::max(each.event.time_ms, each.judged_by_ms);
      first_ms = (behind_ms / every_ms - 1) * every_ms;
      while (first_ms <= behind_ms) first_ms += every_ms;
    }
    shown[first_ms].push_back(each.event);
  }
  Groups groups;
  std::map<std::uint64_t, std::vector<Event>> totals;
  for (const auto& [at_ms, events] : shown) {
    std::set<std::uint64_t> changed;
    for (const Event& event : events) {
      totals[key_of(event)].push_back(event);
      changed.insert(key_of(event));
    }
    for (const std::uint64_t key : changed) groups[{kBeginningMs, at_ms, key}] = totals[key];
  }
  return groups;
}

std::uint64_t KeyOf(const Event& event) { return event.key; }
std::uint64_t NoKey(const Event& /*event*/) { return 0; }

std::vector<Seen> ResultsOf(const Groups& groups,
                            const std::function<std::int64_t(const std::vector<Event>&)>& amount_of) {
  std::vector<Seen> results;
  for (const auto& [window, events] : groups) {
    results.push_back({.event = {.key = window.key, .time_ms = window.end_ms - 1, .amount = amount_of(events)}});
  }
  return results;
}

std::string PlainText(std::uint64_t key) { return absl::StrCat(key); }
std::string AllRecordsText(std::uint64_t /*key*/) { return "all"; }

std::vector<std::string> RowsOf(const Groups& groups, const std::function<std::string(const std::vector<Event>&)>& show,
                                KeyText key_text) {
  std::vector<std::string> rows;
  for (const auto& [window, events] : groups) rows.push_back(RowText(window, key_text(window.key), show(events)));
  return rows;
}

std::vector<std::string> LateRowsOf(const std::vector<Event>& late) {
  std::vector<std::string> rows;
  for (const Event& event : late) rows.push_back(absl::StrCat("late ", Record(event)));
  return rows;
}

std::vector<Pair> PairsOf(const Groups& left, const Groups& right, bool is_left, bool is_full) {
  std::vector<Pair> pairs;
  for (const auto& [window, events] : left) {
    const auto others = right.find(window);
    AddPairs(window, events, others == right.end() ? std::vector<Event>{} : others->second, is_left, is_full, pairs);
  }
  for (const auto& [window, events] : right) {
    if (!left.contains(window)) AddPairs(window, {}, events, is_left, is_full, pairs);
  }
  return pairs;
}

std::vector<Pair> SessionPairsOf(const std::vector<Seen>& left, const std::vector<Seen>& right, std::int64_t gap_ms,
                                 bool is_left, bool is_full, std::vector<Event>& late) {
  std::map<std::uint64_t, std::vector<std::pair<Event, bool>>> by_key;  // and whether it is of the right
  for (const bool is_right : {false, true}) {
    for (const Seen& each : is_right ? right : left) {
      if (each.event.time_ms < each.judged_by_ms) {
        late.push_back(each.event);
      } else {
        by_key[each.event.key].emplace_back(each.event, is_right);
      }
    }
  }
  std::vector<Pair> pairs;
  for (auto& [key, all] : by_key) {
    std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first.time_ms; });
    for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
      std::vector<Event> sides[2];
      for (next = first;
           next < all.size() && (next == first || all[next].first.time_ms - all[next - 1].first.time_ms < gap_ms);
           ++next) {
        sides[all[next].second ? 1 : 0].push_back(all[next].first);
      }
      const WindowKey session{all[first].first.time_ms, all[next - 1].first.time_ms + gap_ms, key};
      AddPairs(session, sides[0], sides[1], is_left, is_full, pairs);
    }
  }
  return pairs;
}

std::vector<Seen> ResultsOf(const std::vector<Pair>& pairs, const std::function<std::int64_t(const Pair&)>& amount_of) {
  std::vector<Seen> results;
  for (const Pair& pair : pairs) {
    results.push_back(
        {.event = {.key = pair.window.key, .time_ms = pair.window.end_ms - 1, .amount = amount_of(pair)}});
  }
  return results;
}

std::vector<std::string> PairRows(const std::vector<Pair>& pairs, KeyText key_text) {
  std::vector<std::string> rows;
  rows.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    rows.push_back(
        RowText(pair.window, key_text(pair.window.key), absl::StrCat(Column(pair.left), ", ", Column(pair.right))));
  }
  return rows;
}

std::vector<std::string> OneSidedRows(const std::vector<Pair>& pairs, bool with_partner, KeyText key_text) {
  std::vector<std::string> rows;
  for (const Pair& pair : pairs) {
    if (pair.is_first && pair.right.has_value() == with_partner) {
      rows.push_back(RowText(pair.window, key_text(pair.window.key), Column(pair.left)));
    }
  }
  return rows;
}

}  // namespace glaive::sim
