// The totals of a group's elements, and values that are merged before they have a result.

#include "state/crdt/element_total.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/extremum.h"
#include "state/crdt/sum.h"

namespace glaive::state {
namespace {

using Least = MinValue<std::int64_t>;

/// The total of elements, each with the values of its records.
template <typename V>
auto TotalOf(const std::vector<V>& elements) {
  typename ElementTotal<V>::Type total;
  for (const V& element : elements) ElementTotal<V>::Add(total, element, /*number=*/0);
  return total.Result();
}

/// What an element has of records with these values.
template <typename V>
V ElementOf(const std::vector<typename V::Input>& inputs) {
  V value;
  for (const auto& input : inputs) value.Update(input);
  return value;
}

TEST(ElementTotal, CountsElements) {
  EXPECT_EQ(TotalOf(std::vector<PresenceValue>(3)), 3U);
  EXPECT_EQ(TotalOf(std::vector<SeveralValue<PresenceValue>>(3)), std::tuple(std::uint64_t{3}));
}

TEST(ElementTotal, MergesWhatStandsBesideThemWhereverTheyStand) {
  using First = SeveralValue<PresenceValue, CountValue, Least>;
  EXPECT_EQ(
      TotalOf<First>({ElementOf<First>({{{}, {{}, {5}}}, {{}, {{}, {9}}}}), ElementOf<First>({{{}, {{}, {-2}}}})}),
      std::tuple(std::uint64_t{2}, std::uint64_t{3}, std::int64_t{-2}));
  using Last = SeveralValue<CountValue, Least, PresenceValue>;
  EXPECT_EQ(TotalOf<Last>({ElementOf<Last>({{{}, {5, {{}}}}, {{}, {9, {{}}}}}), ElementOf<Last>({{{}, {-2, {{}}}}})}),
            std::tuple(std::uint64_t{3}, std::int64_t{-2}, std::uint64_t{2}));
}

TEST(ElementTotal, OfNoElementsIsEmpty) {
  using Value = SeveralValue<CountValue, PresenceValue>;
  EXPECT_EQ(TotalOf<Value>({}), std::tuple(std::uint64_t{0}, std::uint64_t{0}));
}

TEST(ElementTotal, CountsTheElementsOfEachSet) {
  using Value = SeveralValue<CountValue, PresenceValue, SeveralValue<Least, PresenceValue>, PresenceValue>;
  ElementTotal<Value>::Type total;
  for (const std::size_t number : {0, 1, 1, 2, 2, 2}) ElementTotal<Value>::Add(total, Value{}, number);
  const auto [count, first, least, nested, last] = total.Result();
  EXPECT_EQ(ElementTotal<Value>::kSets, 3U);
  EXPECT_EQ(std::tuple(count, least, first, nested, last), std::tuple(0U, Least().Result(), 1U, 2U, 3U));
}

TEST(ElementTotal, NestedSeveralIsFlat) {
  using Value = SeveralValue<SeveralValue<PresenceValue>, CountValue>;
  EXPECT_EQ(TotalOf(std::vector<Value>(2)), std::tuple(std::uint64_t{2}, std::uint64_t{0}));
}

TEST(ElementTotal, ElementsTakeNoRoomBesideOthers) {
  EXPECT_EQ(sizeof(SeveralValue<CountValue, PresenceValue>), sizeof(CountValue));
  EXPECT_EQ(sizeof(SeveralValue<PresenceValue, CountValue>), sizeof(CountValue));
}

TEST(UnfinishedValue, IsItsOwnResult) {
  UnfinishedValue<CountValue> a;
  UnfinishedValue<CountValue> b;
  a.Update({});
  b.Update({});
  a.Merge(b);
  EXPECT_EQ(a.Result(), (CountValue{.count = 2}));
}

}  // namespace
}  // namespace glaive::state
