// Coverage: how often a batch of simulations met what it is there to meet. What was never met was not tested.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/catalogue.h"
#include "tests/sim/simulation.h"

namespace glaive::sim {

class Coverage {
 public:
  explicit Coverage(std::span<const CatalogueEntry> catalogue);

  void Add(const Scenario& scenario, const Outcome& outcome);

  /// Counts of faults by step, of windows, aggregates, joins, keys, shapes and operators in runs whose rows were
  /// compared, and of hard states.
  void Print(std::ostream& out) const;
  /// What should have been met and was not.
  std::vector<std::string> Missing() const;

 private:
  /// Counts the query, its window, aggregates, join, key, shape and operators.
  void AddQuery(const Scenario& scenario);

  const CatalogueEntry& EntryOf(const Scenario& scenario) const {
    return catalogue_[static_cast<std::size_t>(scenario.query)];
  }

  std::span<const CatalogueEntry> catalogue_;
  std::uint64_t simulations_ = 0;
  std::uint64_t failed_runs_ = 0;
  std::array<std::array<std::uint64_t, kSteps>, kFaultKinds> struck_{};
  std::vector<std::uint64_t> queries_;
  std::map<std::string, std::uint64_t> windows_;
  std::map<std::string, std::uint64_t> aggregates_;  // with their windows
  std::map<std::string, std::uint64_t> joins_;       // likewise
  std::map<std::string, std::uint64_t> keys_;
  std::map<std::string, std::uint64_t> shapes_;
  std::map<std::string, std::uint64_t> operators_;
  std::map<std::string, std::uint64_t> states_;  // simulations that met them
};

}  // namespace glaive::sim
