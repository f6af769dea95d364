#include "queries/collisions/generator.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/format/csv_text.h"
#include "queries/common/random.h"

namespace glaive::queries::collisions {
namespace {

constexpr std::uint64_t kDraws = 32;

struct Borough {
  std::string_view name;
  std::uint64_t percent;
  unsigned first_zip_code;
};
constexpr std::array<Borough, 6> kBoroughs = {{{"", 31, 0},
                                               {"BROOKLYN", 22, 11201},
                                               {"QUEENS", 18, 11354},
                                               {"MANHATTAN", 16, 10001},
                                               {"BRONX", 10, 10451},
                                               {"STATEN ISLAND", 3, 10301}}};

// The most frequent ones first.
constexpr std::array<std::string_view, 40> kFactorNames = {"Unspecified",
                                                           "Driver Inattention/Distraction",
                                                           "Failure to Yield Right-of-Way",
                                                           "Following Too Closely",
                                                           "Backing Unsafely",
                                                           "Other Vehicular",
                                                           "Passing or Lane Usage Improper",
                                                           "Turning Improperly",
                                                           "Fatigued/Drowsy",
                                                           "Passing Too Closely",
                                                           "Unsafe Lane Changing",
                                                           "Traffic Control Disregarded",
                                                           "Driver Inexperience",
                                                           "Unsafe Speed",
                                                           "Alcohol Involvement",
                                                           "Lost Consciousness",
                                                           "Reaction to Uninvolved Vehicle",
                                                           "Pavement Slippery",
                                                           "Prescription Medication",
                                                           "View Obstructed/Limited",
                                                           "Outside Car Distraction",
                                                           "Oversized Vehicle",
                                                           "Pedestrian/Bicyclist/Other Pedestrian Error/Confusion",
                                                           "Aggressive Driving/Road Rage",
                                                           "Physical Disability",
                                                           "Fell Asleep",
                                                           "Passenger Distraction",
                                                           "Brakes Defective",
                                                           "Obstruction/Debris",
                                                           "Glare",
                                                           "Failure to Keep Right",
                                                           "Steering Failure",
                                                           "Other Electronic Device",
                                                           "Drugs (illegal)",
                                                           "Pavement Defective",
                                                           "Cell Phone (hand-Held)",
                                                           "Illness",
                                                           "Animals Action",
                                                           "Tire Failure/Inadequate",
                                                           "Lane Marking Improper/Inadequate"};

constexpr std::array<std::string_view, 6> kStreets = {
    "BELT PARKWAY                    ", "WEST FARMS ROAD", "3 AVENUE", "ATLANTIC AVENUE", "BROADWAY", ""};
constexpr std::array<std::string_view, 4> kPlaces = {"", "1211      LORING AVENUE", "LOT \"B\", 42-15 CRESCENT STREET",
                                                     "355       FLATBUSH AVENUE"};
constexpr std::array<std::string_view, 6> kVehicles = {
    "Sedan", "Station Wagon/Sport Utility Vehicle", "Taxi", "Bike", "Box Truck", "E-Scooter"};

template <typename Names>
std::string_view OneOf(const Names& names, std::uint64_t random) {
  return names[Below(names.size(), random)];
}

const Borough& BoroughOf(std::uint64_t random) {
  std::uint64_t percent = Below(100, random);
  const Borough* borough = kBoroughs.data();
  for (; percent >= borough->percent; ++borough) {
    percent -= borough->percent;
  }
  return *borough;
}

bool IsOneIn(std::uint64_t many, std::uint64_t random) { return Below(many, random) == 0; }

unsigned SumOf(const std::array<unsigned, 3>& persons) { return std::accumulate(persons.begin(), persons.end(), 0U); }

}  // namespace

CollisionGenerator::CollisionGenerator(std::uint64_t seed)
    : seed_(StreamOf(seed, 0)),
      factors_({.count = kFactorNames.size(), .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1.3}}) {}

GeneratedCollision CollisionGenerator::Make(std::uint64_t number) const {
  constexpr std::chrono::sys_days kFirst = std::chrono::year(2013) / 1 / 1;
  constexpr std::chrono::sys_days kEnd = std::chrono::year(2023) / 1 / 1;
  const RecordDraws<kDraws> draw(0, seed_, number);
  GeneratedCollision collision{.number = number, .date = {}};
  collision.date = kFirst + std::chrono::days(Below((kEnd - kFirst).count(), draw(0)));
  collision.minute = static_cast<unsigned>(Below(24 * 60, draw(1)));
  const Borough& borough = BoroughOf(draw(2));
  collision.borough = borough.name;
  if (!borough.name.empty()) {
    collision.zip_code = borough.first_zip_code + static_cast<unsigned>(Below(25, draw(3)));
  }
  if (!IsOneIn(12, draw(4))) {
    collision.north = 40'50000 + Below(41000, draw(5));
    collision.east = 73'70000 + Below(55000, draw(6));
  }
  collision.on_street = OneOf(kStreets, draw(7));
  collision.off_street = collision.on_street.empty() ? OneOf(kPlaces, draw(8)) : "";
  for (std::size_t i = 0; i < collision.injured.size(); ++i) {
    collision.injured[i] = IsOneIn(8, draw(9 + i)) ? 1 + static_cast<unsigned>(Below(3, draw(12 + i))) : 0;
    collision.killed[i] = IsOneIn(1000, draw(15 + i)) ? 1 + static_cast<unsigned>(Below(2, Mix(draw(15 + i)))) : 0;
  }
  collision.counts_killed = SumOf(collision.killed) > 0 || !IsOneIn(500, draw(18));
  // Vehicles of each accident, in 10,000: most have two.
  constexpr std::array<std::uint64_t, kMostFactors> kHaveVehicle = {9960, 8500, 700, 150, 40};
  const std::uint64_t share = Below(10'000, draw(19));
  for (std::size_t i = 0; i < kMostFactors && share < kHaveVehicle[i]; ++i) {
    collision.factors[i] = kFactorNames[factors_.Draw(draw(20 + i)) - 1];
    collision.vehicles[i] = OneOf(kVehicles, draw(25 + i));
  }
  return collision;
}

Collision RecordOf(const GeneratedCollision& collision) {
  Collision record{.week = WeekOf(collision.date),
                   .lethal = SumOf(collision.killed) > 0 ? 1U : 0U,
                   .borough = collision.borough,
                   .factors = {}};
  std::ranges::copy(collision.factors, record.factors.begin());
  return record;
}

std::string PublishedHeader() {
  std::string header =
      "CRASH DATE,CRASH TIME,BOROUGH,ZIP CODE,LATITUDE,LONGITUDE,LOCATION,ON STREET NAME,CROSS STREET NAME,"
      "OFF STREET NAME,NUMBER OF PERSONS INJURED,NUMBER OF PERSONS KILLED,NUMBER OF PEDESTRIANS INJURED,"
      "NUMBER OF PEDESTRIANS KILLED,NUMBER OF CYCLIST INJURED,NUMBER OF CYCLIST KILLED,NUMBER OF MOTORIST INJURED,"
      "NUMBER OF MOTORIST KILLED";
  const auto append = [&header](std::string_view name) {
    for (std::size_t i = 1; i <= kMostFactors; ++i) {
      absl::StrAppend(&header, ",", std::string(name), " ", i);
    }
  };
  append("CONTRIBUTING FACTOR VEHICLE");
  header += ",COLLISION_ID";
  append("VEHICLE TYPE CODE");
  return header + "\n";
}

void AppendPublished(const GeneratedCollision& collision, std::string& lines) {
  absl::StrAppendFormat(&lines, "%02d/%02d/%04d,%d:%02d,", static_cast<unsigned>(collision.date.month()),
                        static_cast<unsigned>(collision.date.day()), static_cast<int>(collision.date.year()),
                        collision.minute / 60, collision.minute % 60);
  lines += collision.borough;
  lines += ',';
  if (collision.zip_code != 0) {
    absl::StrAppend(&lines, collision.zip_code);
  }
  if (collision.north == 0) {
    lines += ",,,";
  } else {
    const std::string north = absl::StrFormat("%d.%05d", collision.north / 100'000, collision.north % 100'000);
    const std::string east = absl::StrFormat("-%d.%05d", collision.east / 100'000, collision.east % 100'000);
    absl::StrAppend(&lines, ",", north, ",", east, ",\"(", north, ", ", east, ")\"");
  }
  lines += ',';
  engine::AppendCsvText(lines, collision.on_street);
  lines += ",,";
  engine::AppendCsvText(lines, collision.off_street);
  absl::StrAppend(&lines, ",", SumOf(collision.injured), ",");
  if (collision.counts_killed) {
    absl::StrAppend(&lines, SumOf(collision.killed));
  }
  for (std::size_t i = 0; i < collision.injured.size(); ++i) {
    absl::StrAppend(&lines, ",", collision.injured[i], ",", collision.killed[i]);
  }
  for (const std::string_view factor : collision.factors) {
    lines += ',';
    engine::AppendCsvText(lines, factor);
  }
  absl::StrAppend(&lines, ",", 4'000'000 + collision.number);
  for (const std::string_view vehicle : collision.vehicles) {
    lines += ',';
    engine::AppendCsvText(lines, vehicle);
  }
  lines += '\n';
}

}  // namespace glaive::queries::collisions
