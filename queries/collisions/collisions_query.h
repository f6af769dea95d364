// Three questions about collisions, answered in one pass:
//
//   weeks      SELECT week, count(*) FILTER (lethal) AS lethal_accidents FROM collisions GROUP BY week
//   factors    SELECT factor, count(*), count(*) FILTER (lethal), 100.0 * lethal_accidents / accidents
//              FROM collisions, DISTINCT factors of each
//              GROUP BY factor
//   boroughs   SELECT borough, week, count(*), count(*) FILTER (lethal),
//                     lethal accidents of the borough / weeks of all collisions
//              FROM collisions
//              GROUP BY borough, week
//
// Weeks are from Monday to Sunday, and are named by their Monday. A week without a lethal accident has a row; a week
// without any accident has none. A factor counts once for an accident, however many vehicles have it. Accidents without
// a borough count for weeks and factors, and have no row of `boroughs`. The file is in no order of time, so there are
// no windows: all rows come at the end.
//
//   Answers answers;
//   answers[static_cast<std::size_t>(Question::kFactors)] = engine::Results("factors.csv");
//   std::unique_ptr<engine::Query> query = BuildCollisions(CollisionFiles(files, {}), answers);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/executor/query.h"
#include "engine/sink/results.h"
#include "engine/source/source.h"
#include "queries/collisions/collision.h"

namespace glaive::queries::collisions {

enum class Question : std::uint8_t { kWeeks, kFactors, kBoroughs };
inline constexpr std::size_t kQuestions = 3;

/// By question, where its rows go. A question without a place is not asked; one at least has a place.
using Answers = std::array<std::optional<engine::Results>, kQuestions>;

std::unique_ptr<engine::Query> BuildCollisions(const engine::SourceSpec<Collision, engine::NoEventTime>& collisions,
                                               const Answers& answers);

}  // namespace glaive::queries::collisions
