// The results of a join without Keep as a stream: what Split and JoinTable make of them, and joins, unions and zips of
// them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/api/static_table.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/api/zip.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr std::uint64_t kNumbers = 1'000;

/// A number of both streams.
using Both = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;

/// The numbers that are divisible by 2 and by 3.
auto Sixths() {
  const auto divisible_by = [](std::uint64_t by) {
    return FromRange(0, kNumbers).Filter([by](std::uint64_t number) { return number % by == 0; });
  };
  return Join(divisible_by(2), divisible_by(3)).On(std::identity(), std::identity()).Window(Unbounded{});
}

using Numbers = std::vector<std::uint64_t>;
/// Those below kNumbers that are multiples of `step`, from `first` on.
Numbers Multiples(std::uint64_t step, std::uint64_t first = 0) {
  Numbers numbers;
  for (std::uint64_t number = first; number < kNumbers; number += step) numbers.push_back(number);
  return numbers;
}
Numbers AllOf(const std::vector<Numbers>& rows) {
  Numbers all;
  for (const Numbers& of_executor : rows) all.insert(all.end(), of_executor.begin(), of_executor.end());
  return all;
}
std::uint64_t KeyOfBoth(const Both& row) { return row.key; }

class JoinResults : public OnEachShape {
 protected:
  std::vector<Numbers> rows() const { return std::vector<Numbers>(executors()); }
};

TEST_P(JoinResults, AreSplit) {
  std::vector<Numbers> twelfths = rows();
  std::vector<Numbers> thirtieths = rows();
  auto [even, by_five] = Sixths().Split([](const Both& row) { return row.key % 12 == 0; },
                                        [](const Both& row) { return row.key % 5 == 0; });
  Run(*Together(std::move(even).Map(&KeyOfBoth).To(Collect(twelfths)),
                std::move(by_five).Map(&KeyOfBoth).To(Collect(thirtieths))));
  EXPECT_TRUE(SameElements(AllOf(twelfths), Multiples(12)));
  EXPECT_TRUE(SameElements(AllOf(thirtieths), Multiples(30)));
}

TEST_P(JoinResults, AreJoinedWithATable) {
  std::map<std::uint64_t, std::uint64_t> squares;
  for (std::uint64_t number = 0; number < kNumbers; number += 9) squares[number] = number * number;
  const auto table = std::make_shared<const StaticTable<std::uint64_t, std::uint64_t>>(squares);
  std::vector<Numbers> found = rows();
  Run(*Sixths()
           .JoinTable(table, &KeyOfBoth, [](const Both& row, std::uint64_t square) { return square - row.key; })
           .To(Collect(found)));
  Numbers expected = Multiples(18);
  for (std::uint64_t& number : expected) number = number * number - number;
  EXPECT_TRUE(SameElements(AllOf(found), expected));
}

TEST_P(JoinResults, AreJoinedAgain) {
  std::vector<Numbers> found = rows();
  Run(*SemiJoin(SemiJoin(FromRange(0, kNumbers), FromRange(0, kNumbers).Map([](std::uint64_t n) { return n * 5; }))
                    .On(std::identity(), std::identity())
                    .Window(Unbounded{}),
                Sixths())
           .On([](const auto& row) { return row.key; }, &KeyOfBoth)
           .Window(Unbounded{})
           .Map([](const auto& row) { return row.value.value; })
           .To(Collect(found)));
  EXPECT_TRUE(SameElements(AllOf(found), Multiples(30)));
}

TEST_P(JoinResults, AreUnited) {
  const auto of_left = [](std::uint64_t step) {
    return SemiJoin(FromRange(0, kNumbers), FromRange(0, kNumbers).Map([step](std::uint64_t n) { return n * step; }))
        .On(std::identity(), std::identity())
        .Window(Unbounded{});
  };
  std::vector<Numbers> found = rows();
  Run(*Union(of_left(50), of_left(70)).Map([](const auto& row) { return row.value; }).To(Collect(found)));
  Numbers expected = Multiples(50);
  for (const std::uint64_t number : Multiples(70)) expected.push_back(number);
  EXPECT_TRUE(SameElements(AllOf(found), expected));
}

TEST_P(JoinResults, AreZipped) {
  std::vector<Numbers> found = rows();
  Run(*Zip(SemiJoin(FromRange(0, kNumbers), FromRange(0, 30)).On(std::identity(), std::identity()).Window(Unbounded{}),
           FromRange(0, kNumbers))
           .Map([](const auto& pair) { return pair.first.value; })
           .To(Collect(found)));
  Numbers expected(30);
  for (std::uint64_t number = 0; number < 30; ++number) expected[number] = number;
  EXPECT_TRUE(SameElements(AllOf(found), expected));
}

GLAIVE_ON_EACH_SHAPE(JoinResults);

}  // namespace
}  // namespace glaive::engine
