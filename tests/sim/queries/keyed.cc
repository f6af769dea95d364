// Queries by keys of all sizes, and without a key; every aggregate with every kind of window.
//
// Two pairs do not compile or not run by design: Distinct with sessions, and with results every so often.

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// Every aggregate but Distinct at once; AllOf shows the same. An entry is nearly as large as the smallest messages
/// that scenarios have.
template <typename K, typename W>
CatalogueEntry AllAggregates(std::string_view name, const WindowKind<W>& window) {
  return Aggregated<K>(name, window,
                       Several{Count{}, Sum{&BigAmount}, Sum{&Event::weight}, Min{&Event::amount}, Max{&Event::amount},
                               Mean{&BigAmount}, Variance{&Event::weight}, First{&Event::time_ms, &Event::amount},
                               Last{&Event::time_ms, &Event::amount}, TopK<3>(&Event::amount)},
                       NamesOfAll(), AllOf);
}

std::uint8_t KindOf(const Event& event) { return static_cast<std::uint8_t>(event.kind); }

}  // namespace

std::vector<CatalogueEntry> KeyedQueries() {
  return {
      AllAggregates<Key16>("tumbling, all aggregates, by 16 bytes", TumblingOf(700)),
      AllAggregates<MixedKey>("sliding, all aggregates, by a struct", SlidingOf(900, 300)),
      AllAggregates<std::uint16_t>("sessions, all aggregates, by 2 bytes", SessionOf(150)),
      AllAggregates<std::uint32_t>("unbounded, all aggregates, by 4 bytes", UnboundedOf(0)),
      AllAggregates<std::uint8_t>("as-of, all aggregates, by 1 byte", UnboundedOf(600)),
      // Keys and values that cells have room for.
      Aggregated<std::uint8_t>("tumbling count by 1 byte", TumblingOf(700), Count{}, {"count"}, CountOf),
      Aggregated<Key40>("session count by 40 bytes", SessionOf(150), Count{}, {"count"}, CountOf),
      Aggregated<std::uint32_t>("tumbling exact-sum by 4 bytes", TumblingOf(700), Sum{&Event::weight}, {"exact-sum"},
                                WeightOf),
      Aggregated<Key16>("tumbling mean by 16 bytes", TumblingOf(700), Mean{&Event::weight}, {"mean"}, MeanOf),
      Aggregated<Key40>("tumbling count by 40 bytes", TumblingOf(700), Count{}, {"count"}, CountOf),
      Aggregated<MixedKey>("sliding max by a struct", SlidingOf(900, 300), Max{&Event::amount}, {"max"}, GreatestOf),
      Aggregated<std::uint16_t>("tumbling distinct bytes by 2 bytes", TumblingOf(700), Distinct{&KindOf}, {"distinct"},
                                DistinctKindsOf),
      Aggregated<Text>("tumbling count by a text", TumblingOf(700), Count{}, {"count"}, CountOf),
      Aggregated<NamedKey>("sliding exact-sum by a struct with a text", SlidingOf(900, 300), Sum{&Event::weight},
                           {"exact-sum"}, WeightOf),
      Aggregated<Text>("session max by a text", SessionOf(150), Max{&Event::amount}, {"max"}, GreatestOf),
      Aggregated<NamedKey>("unbounded count by a struct with a text", UnboundedOf(0), Count{}, {"count"}, CountOf),
      Aggregated<Text>("tumbling distinct bytes by a text", TumblingOf(700), Distinct{&KindOf}, {"distinct"},
                       DistinctKindsOf),
      Aggregated<AllRecords>("tumbling count without a key", TumblingOf(700), Count{}, {"count"}, CountOf),
      Aggregated<AllRecords>("sliding exact-sum without a key", SlidingOf(800, 200), Sum{&Event::weight}, {"exact-sum"},
                             WeightOf),
      Aggregated<AllRecords>("session last without a key", SessionOf(60), Last{&Event::time_ms, &Event::amount},
                             {"last"}, LastOf),
      Aggregated<AllRecords>("unbounded distinct without a key", UnboundedOf(0), Distinct{&Event::amount}, {"distinct"},
                             DistinctOf),
      Aggregated<AllRecords>("as-of mean without a key", UnboundedOf(400), Mean{&Event::weight}, {"mean"}, MeanOf)};
}

}  // namespace glaive::sim
