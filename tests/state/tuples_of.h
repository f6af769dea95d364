// TuplesOf: the tuples of a list, for tests of joins.
//
//   EXPECT_THAT(TuplesOf(lists, list), ElementsAre(1, 2, 3));
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "state/store/tuple_lists.h"

namespace glaive::state {

inline std::vector<std::uint64_t> TuplesOf(const TupleLists<std::uint64_t>& lists, const TupleList& list) {
  std::vector<std::uint64_t> tuples;
  EXPECT_TRUE(lists
                  .ForEach(list,
                           [&](std::uint64_t tuple) {
                             tuples.push_back(tuple);
                             return absl::OkStatus();
                           })
                  .ok());
  return tuples;
}

}  // namespace glaive::state
