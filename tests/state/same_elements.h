// SameElements: whether two collections have the same elements, each as often, in any order; if not, which ones differ.
// SameSequence: whether they have them in the same order, too; if not, where they begin to differ.
//
// A failed EXPECT_EQ of two large collections prints the first 32 elements of each, which are mostly alike.
// GoogleTest's ContainerEq prints all that differ but does not count how often an element occurs, and
// UnorderedElementsAreArray tries each element with each other. This sorts both, and names a few.
//
//   EXPECT_TRUE(SameElements(outcome.counts, SequentialCounts(workload))) << "2 nodes";
//
//     400 elements, 401 expected; 1 unexpected: ((1000, 7), 3); 2 missing: ((1000, 7), 4), ((2000, 9), 1)
//
//   EXPECT_TRUE(SameSequence(keys, expected)) << "executor 1";
//
//     400 elements, 401 expected; they differ from element 17 on: 8, expected 9
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "tests/state/print_described.h"

namespace glaive {

/// Of either kind, so many elements are named, and so many characters of each printed.
inline constexpr std::size_t kMostElementsNamed = 10;
inline constexpr std::size_t kMostCharactersOfElement = 200;

/// "2 missing: (1, 2), (3, 4)", or nothing if there are none.
inline std::string NameElements(std::string_view kind, std::size_t count, const std::vector<std::string>& names) {
  if (count == 0) {
    return "";
  }
  std::string text = absl::StrCat("; ", count, " ", std::string(kind), ": ");
  for (std::size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i].substr(0, kMostCharactersOfElement),
                    names[i].size() > kMostCharactersOfElement ? "..." : "");
  }
  return text + (count > names.size() ? ", ..." : "");
}

/// Compares any two collections of elements of one type, which has an order and is printed by GoogleTest.
template <typename Collection, typename Expected>
::testing::AssertionResult SameElements(const Collection& collection, const Expected& expected) {
  using Element = typename Collection::value_type;
  using Elements = std::vector<std::reference_wrapper<const Element>>;
  const auto is_less = [](const Element& a, const Element& b) { return a < b; };
  Elements found(collection.begin(), collection.end());
  Elements wanted(expected.begin(), expected.end());
  std::sort(found.begin(), found.end(), is_less);
  std::sort(wanted.begin(), wanted.end(), is_less);
  Elements unexpected;
  Elements missing;
  std::set_difference(found.begin(), found.end(), wanted.begin(), wanted.end(), std::back_inserter(unexpected),
                      is_less);
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(), std::back_inserter(missing), is_less);
  if (unexpected.empty() && missing.empty()) {
    return ::testing::AssertionSuccess() << found.size() << " elements";
  }
  const auto names_of = [](const Elements& elements) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(elements.size(), kMostElementsNamed); ++i) {
      names.push_back(::testing::PrintToString(elements[i].get()));
    }
    return names;
  };
  return ::testing::AssertionFailure() << found.size() << " elements, " << wanted.size() << " expected"
                                       << NameElements("unexpected", unexpected.size(), names_of(unexpected))
                                       << NameElements("missing", missing.size(), names_of(missing));
}

/// The element, printed and cut, or "none" behind the last one.
template <typename Sequence>
std::string NameElement(const Sequence& sequence, typename Sequence::const_iterator at) {
  return at == sequence.end() ? "none" : ::testing::PrintToString(*at).substr(0, kMostCharactersOfElement);
}

/// Compares two collections of a kind that has an order, of elements with `==`.
template <typename Sequence>
::testing::AssertionResult SameSequence(const Sequence& found, const Sequence& expected) {
  const auto [at, wanted] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (at == found.end() && wanted == expected.end()) {
    return ::testing::AssertionSuccess() << found.size() << " elements";
  }
  return ::testing::AssertionFailure() << found.size() << " elements, " << expected.size()
                                       << " expected; they differ from element " << std::distance(found.begin(), at)
                                       << " on: " << NameElement(found, at) << ", expected "
                                       << NameElement(expected, wanted);
}

}  // namespace glaive
