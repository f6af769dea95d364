// SameValues: whether two maps have equal values of the same keys; if not, which keys differ, and by which results.
//
// Values of CRDTs have no order, which SameElements needs, and GoogleTest prints them as bytes.
//
//   EXPECT_TRUE(SameValues(cluster.TakeValues(), expected));
//
//     3 keys, 3 expected; 1 unexpected: 7; 1 missing: 9; 1 with another result: 8: 3, not 4
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "tests/state/same_elements.h"

namespace glaive {

/// Compares maps whose keys are printed by GoogleTest and whose values have `==` and Result().
template <typename Map>
::testing::AssertionResult SameValues(const Map& found, const Map& expected) {
  std::vector<std::string> unexpected;
  std::vector<std::string> missing;
  std::vector<std::string> different;
  for (const auto& [key, value] : found) {
    const auto wanted = expected.find(key);
    if (wanted == expected.end()) {
      unexpected.push_back(::testing::PrintToString(key));
    } else if (!(value == wanted->second)) {
      different.push_back(absl::StrCat(::testing::PrintToString(key), ": ", ::testing::PrintToString(value.Result()),
                                       ", not ", ::testing::PrintToString(wanted->second.Result())));
    }
  }
  for (const auto& [key, value] : expected) {
    if (found.find(key) == found.end()) missing.push_back(::testing::PrintToString(key));
  }
  if (unexpected.empty() && missing.empty() && different.empty()) {
    return ::testing::AssertionSuccess() << found.size() << " keys";
  }
  const auto first_of = [](std::vector<std::string> names) {
    if (names.size() > kMostElementsNamed) names.resize(kMostElementsNamed);
    return names;
  };
  return ::testing::AssertionFailure() << found.size() << " keys, " << expected.size() << " expected"
                                       << NameElements("unexpected", unexpected.size(), first_of(unexpected))
                                       << NameElements("missing", missing.size(), first_of(missing))
                                       << NameElements("with another result", different.size(), first_of(different));
}

}  // namespace glaive
