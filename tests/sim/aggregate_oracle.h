// The oracle's aggregates: what an aggregate shows of some records, as text.
//
// They share no code with the engine: sums, means and variances are fractions of integers of 512 bits, rounded once at
// the end. A double's text has the 17 digits that tell any two of them apart.
//
//   WeightOf(events);  // "1.0000000000000002"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/event.h"

namespace glaive::sim {

std::string CountOf(const std::vector<Event>& events);
/// Of the amounts, and of the amounts as BigAmount (event.h) has them.
std::string SumOf(const std::vector<Event>& events);
std::string BigSumOf(const std::vector<Event>& events);
std::string LeastOf(const std::vector<Event>& events);
std::string GreatestOf(const std::vector<Event>& events);
std::string BigMeanOf(const std::vector<Event>& events);
std::string BigVarianceOf(const std::vector<Event>& events);
std::string TopThreeOf(const std::vector<Event>& events);
std::string FirstOf(const std::vector<Event>& events);
std::string LastOf(const std::vector<Event>& events);
std::string DistinctOf(const std::vector<Event>& events);
std::string DistinctKindsOf(const std::vector<Event>& events);
/// Of the weights.
std::string WeightOf(const std::vector<Event>& events);
std::string MeanOf(const std::vector<Event>& events);
std::string VarianceOf(const std::vector<Event>& events);

/// Every aggregate but Distinct, as AllAggregates (queries/keyed.cc) has them.
std::string AllOf(const std::vector<Event>& events);
/// The names of AllOf's aggregates, as entries of the catalogue have them.
std::vector<std::string_view> NamesOfAll();

}  // namespace glaive::sim
