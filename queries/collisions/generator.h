// CollisionGenerator: collisions like those that New York publishes, as a pure function of the seed and their number:
// ten years in no order of time, boroughs and factors as skewed as the city's, and 3 lethal ones in 1,000.
//
//   const GeneratedCollision collision = CollisionGenerator(seed).Make(number);
//   Collision record = RecordOf(collision);          // what the query reads of it; its texts are constants
//   AppendPublished(collision, line);                // as a line of the published file
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "queries/collisions/collision.h"
#include "queries/common/key_distribution.h"

namespace glaive::queries::collisions {

/// Views are of constants.
struct GeneratedCollision {
  std::uint64_t number = 0;
  std::chrono::year_month_day date;
  unsigned minute = 0;  // of the day
  std::string_view borough = {};
  unsigned zip_code = 0;   // 0: the city does not know it
  std::uint64_t east = 0;  // of the place, in 10^-5 degrees; with `north` 0: unknown
  std::uint64_t north = 0;
  std::string_view on_street = {};
  std::string_view off_street = {};
  std::array<unsigned, 3> injured = {};  // pedestrians, cyclists, motorists
  std::array<unsigned, 3> killed = {};   // likewise
  bool counts_killed = true;             // whether the line has the number of persons killed
  std::array<std::string_view, kMostFactors> factors = {};
  std::array<std::string_view, kMostFactors> vehicles = {};
};

class CollisionGenerator {
 public:
  explicit CollisionGenerator(std::uint64_t seed);

  GeneratedCollision Make(std::uint64_t number) const;

 private:
  std::uint64_t seed_;
  KeyDistribution factors_;
};

Collision RecordOf(const GeneratedCollision& collision);

/// The published file's first line, and that of a collision; both with their ends.
std::string PublishedHeader();
void AppendPublished(const GeneratedCollision& collision, std::string& lines);

}  // namespace glaive::queries::collisions
