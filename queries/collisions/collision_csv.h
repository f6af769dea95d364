// CollisionCsv: the parser of the file "Motor Vehicle Collisions - Crashes" as the city of New York publishes it.
//
//   CRASH DATE,CRASH TIME,BOROUGH,ZIP CODE,LATITUDE,LONGITUDE,LOCATION,...
//   09/11/2021,2:39,BROOKLYN,11208,40.667202,-73.8665,"(40.667202, -73.8665)",...
//
// Columns may have any order, and those that the queries do not read are passed over. Some lines have no number of
// persons killed: nobody was.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/format/csv_reader.h"
#include "engine/source/input_files.h"
#include "engine/source/line_source.h"
#include "engine/source/source.h"
#include "queries/collisions/collision.h"
#include "state/record/record.h"
#include "state/record/text.h"
#include "state/record/text_arena.h"

namespace glaive::queries::collisions {

/// What a line has of a collision.
struct PublishedCollision {
  Text date;  // MM/DD/YYYY
  Text borough;
  std::optional<std::uint32_t> killed;
  std::array<Text, kMostFactors> factors;
};
GLAIVE_RECORD(PublishedCollision, date, borough, killed, factors)

class CollisionCsv {
 public:
  CollisionCsv();

  engine::Parsed ReadHeader(std::string_view line, engine::ParseError& error) { return csv_.ReadHeader(line, error); }
  engine::Parsed operator()(std::string_view line, Collision& collision, state::TextArena& texts,
                            engine::ParseError& error);

 private:
  engine::CsvParser<PublishedCollision> csv_;
};

/// The collisions of such files, for From(). They are in no order of time, and have no event times.
engine::SourceSpec<Collision, engine::NoEventTime> CollisionFiles(const std::vector<engine::ListedFile>& files,
                                                                  const engine::LineSourceOptions& options);

}  // namespace glaive::queries::collisions
