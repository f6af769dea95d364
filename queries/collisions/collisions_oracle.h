// What a sequential program answers, for --verify: strings in standard containers, weeks counted back day by day, and
// files read by code of its own. It shares the generator with the query, and no code of the engine, the state or the
// network.
//
//   CollisionTally tally;
//   status = TallyFiles({"crashes.csv"}, tally, GoOn);
//   std::vector<std::string> lines = tally.Lines(Question::kFactors);     // "Glare,12,1,8.333333333333334"
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "queries/collisions/collisions_query.h"
#include "rdma/base/watch.h"

namespace glaive::queries::collisions {

struct PlainDate {
  int year;
  int month;
  int day;
};

struct PlainCollision {
  PlainDate date;
  std::string borough;
  std::uint64_t killed;
  std::vector<std::string> factors;
};

class CollisionTally {
 public:
  void Add(const PlainCollision& collision);

  /// The rows that the answer to a question has, as lines of CSV.
  std::vector<std::string> Lines(Question question) const;

 private:
  struct Counts {
    std::uint64_t accidents = 0;
    std::uint64_t lethal = 0;
  };

  std::map<std::string, Counts> weeks_;
  std::map<std::string, Counts> factors_;
  std::map<std::pair<std::string, std::string>, Counts> boroughs_;  // by borough and week
};

/// The first `records` collisions of a seed.
absl::Status TallyGenerated(std::uint64_t seed, std::uint64_t records, CollisionTally& tally, const Watch& watch);

/// Those of published files, plain or gzip. FailedPrecondition if one cannot be read, or is not as the city has it.
absl::Status TallyFiles(const std::vector<std::string>& paths, CollisionTally& tally, const Watch& watch);

}  // namespace glaive::queries::collisions
